import ArgumentParser
import FMData
import FMModel
import Foundation

/// `fmdata container`: the files in container fields.
struct ContainerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract: "Reads and writes the files in container fields.",
        subcommands: [ContainerGetCommand.self, ContainerPutCommand.self]
    )
}

/// The container of a record.
struct ContainerOptions: ParsableArguments {
    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(help: "The record's id.")
    var recordId: Int

    @Argument(help: "The container field.", completion: .fields)
    var field: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Which repetition of the field, counted from 1.", valueName: "number")
    )
    var repetition = 1
}

/// `fmdata container get`: the file in a container.
struct ContainerGetCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Writes the content of a container to a file.",
        discussion: """
            Without --output the file gets the name that it has in the container, in this folder. A file is there as a whole or \
            not at all, and none is replaced without --force.
            """
    )

    @OptionGroup var container: ContainerOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace a file of that name.")
    var force = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let target = try output.flatMap { try $0 == "-" ? nil : PartFile.Target($0, replaces: force) }
            if let target, target.isStream {
                throw CommandError("\(target.path) is no file: -o - > \(target.path) writes into it.")
            }
            let download = try await visit.openForReading().addLayout(container.layout).downloadContainer(
                fieldName: container.field,
                recordId: container.recordId,
                repetition: container.repetition
            )
            guard output != "-" else {
                let stream = StandardOutput()
                for try await bytes in download.values { try stream.write(bytes) }
                return try stream.flush()
            }
            // The name is known only when the content begins.
            let draft = target?.path ?? ".fmdata-\(UUID().uuidString)"
            let file = try await download.toFile(at: draft) { progress in
                ProgressLine.shared.reportBytes(progress.completedBytes, of: progress.totalBytes)
            }
            .firstValue()
            var path = file.path
            if output == nil {
                path = Self.safeName(file.fileName) ?? "record-\(container.recordId)"
                do {
                    try Self.move(draft, to: path, replacing: force)
                } catch {
                    unlink(draft)
                    throw error
                }
            }
            let row = OutputRow(
                cells: [path, String(file.byteCount), file.mimeType ?? ""],
                object: [
                    "file": .text(path), "byteCount": .int(file.byteCount),
                    "type": file.mimeType.map(OutputValue.text),
                ]
            )
            let columns = [OutputColumn("file"), OutputColumn("byteCount", isNumber: true), OutputColumn("type")]
            try printer(columns, isOne: true).printAll([row])
        }
    }

    private static func move(_ draft: String, to path: String, replacing: Bool) throws {
        // `link` fails if there is such a file, and `rename` replaces it.
        guard replacing ? rename(draft, path) == 0 : link(draft, path) == 0 else {
            if errno == EEXIST { throw CommandError("\(path) is there already: --force replaces it.") }
            throw FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "write \(path)")
        }
        if !replacing { unlink(draft) }
    }

    /// The name in the container as the name of a file here. It comes from whoever has filled the container, so it
    /// leads to no other folder, hides no file and is no option.
    static func safeName(_ name: String?) -> String? {
        guard let name else { return nil }
        let last = name.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
        let visible = last.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        var safe = String(String.UnicodeScalarView(visible))
        while let first = safe.first, first == "." || first == "-" || first.isWhitespace { safe.removeFirst() }
        return safe.isEmpty ? nil : String(safe.prefix(120))
    }
}

/// `fmdata container put`: a file into a container.
struct ContainerPutCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Puts a file into a container, and prints the record's new modId."
    )

    @OptionGroup var container: ContainerOptions

    @Argument(help: "The file; - is standard input.")
    var file: String

    @Option(help: ArgumentHelp("The name in the container (the file's).", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The media type, as image/jpeg (what the content looks like).", valueName: "type"))
    var type: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Write only if the record still has this modId.", valueName: "number")
    )
    var modId: Int?

    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let content = try content()
            let made = try await write(visit) { database in
                database.addLayout(container.layout).uploadContainer(
                    content,
                    to: container.field,
                    recordId: container.recordId,
                    repetition: container.repetition == 1 ? nil : container.repetition,
                    modId: modId,
                    onProgress: { progress in
                        ProgressLine.shared.reportBytes(progress.completedBytes, of: progress.totalBytes)
                    }
                )
            }
            if let made { try print(recordId: container.recordId, modId: made.modId) }
        }
    }

    private func content() throws -> FMRest.ContainerFile {
        guard file != "-" else {
            guard let name else { throw ValidationError("A file from standard input needs a --name.") }
            return FMRest.ContainerFile(
                fileName: name,
                mimeType: type,
                data: try FieldArguments.content(of: "-")
            )
        }
        do {
            return try FMRest.ContainerFile(contentsOf: file, fileName: name, mimeType: type)
        } catch {
            throw CommandError("\(error)")
        }
    }
}
