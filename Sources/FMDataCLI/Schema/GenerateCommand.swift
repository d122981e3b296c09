import ArgumentParser
import FMModel

/// `fmdata generate`: makes Swift types from the snapshot, without a network. Equal snapshots give equal bytes.
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes Swift types for the layouts of the snapshot.",
        discussion: """
            Each layout becomes a file in the folder Generated. Only files that this command made are ever changed or removed, \
            and only when all are ready: your extensions may stand beside them. "access" in FileMaker/fmdata.json says who may \
            use the types (internal, package or public), "prefixes" what to leave out of field names.
            """
    )

    @OptionGroup var folder: FolderOptions

    @Flag(help: "Write nothing; print what would change, and end with status 3 if anything would.")
    var check = false

    func run() throws {
        let generated = try folder.folder.generated()
        guard check else {
            for line in try generated.generate() { print(line) }
            return
        }
        let difference = try generated.check()
        print(difference, terminator: "")
        if !difference.isEmpty { throw ExitStatus.different.code }
    }
}
