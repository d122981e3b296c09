import FMModel
import Foundation

/// The executable of the plugins: `fmdata generate` without network code and its dependencies, so that it builds in
/// seconds.
///
///     FMModelTool generate FOLDER         FOLDER/FileMaker → FOLDER/Generated
///     FMModelTool check FOLDER            the same, writing nothing; status 3 when something differs
///     FMModelTool file SNAPSHOT OUTPUT    one file for all layouts
@main
enum FMModelTool {
    static func main() {
        do {
            exit(try run(Array(CommandLine.arguments.dropFirst())))
        } catch {
            say("error: \(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws -> Int32 {
        switch (arguments.first, arguments.count) {
        case ("generate", 2): return try generate(folder(arguments[1]))
        case ("check", 2): return try check(folder(arguments[1]))
        case ("file", 3): return try file(arguments[2], of: URL(fileURLWithPath: arguments[1], isDirectory: true))
        default:
            say("usage: FMModelTool generate FOLDER | check FOLDER | file SNAPSHOT OUTPUT")
            return 64
        }
    }

    private static func folder(_ path: String) -> ModelFolder {
        ModelFolder(URL(fileURLWithPath: path, isDirectory: true))
    }

    private static func generate(_ folder: ModelFolder) throws -> Int32 {
        for line in try folder.generated().generate() { print(line) }
        return 0
    }

    private static func check(_ folder: ModelFolder) throws -> Int32 {
        let difference = try folder.generated().check()
        print(difference, terminator: "")
        return difference.isEmpty ? 0 : 3
    }

    private static func file(_ output: String, of snapshot: URL) throws -> Int32 {
        let snapshot = try SnapshotFolder(reading: snapshot)
        let text = ModelSource(access: snapshot.settings.access).file(of: snapshot.layouts, origin: "a snapshot")
        var change = FolderChange()
        let place = URL(fileURLWithPath: output)
        change.texts[place.lastPathComponent] = text
        try change.apply(to: place.deletingLastPathComponent())
        return 0
    }

    private static func say(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
}
