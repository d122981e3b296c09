import Foundation
import PackagePlugin

/// Turns the samples in README, the DocC articles and doc comments into programs, before each build of the targets that
/// run them. `Tests/Ecosystem` has the program of the articles with samples that need traits.
@main
struct SamplesPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let package = context.package.directoryURL
        let program: (form: String, files: [URL])
        switch target.name {
        case "samples-with-traits":
            let root = package.deletingLastPathComponent().deletingLastPathComponent()
            let files = try Self.files(in: root.appending(path: "Sources/FMData"))
            program = ("functions-with-traits", try files.filter(Self.needsTraits))
        case "samples-in-main-file": program = ("main-file", try Self.files(of: package))
        default: program = ("functions", try Self.files(of: package))
        }
        let folder = context.pluginWorkDirectoryURL
        let names = [program.form == "main-file" ? "main" : "Start"] + Set(program.files.map(Self.document)).sorted()
        return [
            .buildCommand(
                displayName: "Samples of README, DocC and doc comments",
                executable: try context.tool(named: "sample-writer").url,
                arguments: [program.form, folder.path] + program.files.map(\.path),
                inputFiles: program.files,
                outputFiles: names.map { folder.appending(path: "\($0).swift") }
            )
        ]
    }

    /// The document of a file, which the writer names in the same way: each has a file of its own in the program.
    private static func document(of file: URL) -> String {
        guard file.pathExtension == "swift" else { return file.deletingPathExtension().lastPathComponent }
        let module = file.pathComponents.drop { $0 != "Sources" }.dropFirst().first ?? ""
        return module.hasPrefix("FMData") ? "FMData" : module
    }

    private static func files(of package: URL) throws -> [URL] {
        let libraries = ["FMData", "FMDataCore", "FMDataRecords", "FMDataLive", "FMSandbox", "FMTesting", "FMWebhooks"]
            .map { package.appending(path: "Sources/\($0)") }
        return [package.appending(path: "README.md")] + (try libraries.flatMap(files(in:)))
    }

    private static func needsTraits(_ article: URL) throws -> Bool {
        try article.pathExtension == "md" && String(contentsOf: article, encoding: .utf8).contains("with traits")
    }

    /// The articles of a library, and its source files with fenced samples. Samples that are only indented are
    /// sketches.
    private static func files(in library: URL) throws -> [URL] {
        let files = FileManager.default.enumerator(at: library, includingPropertiesForKeys: nil)?.allObjects ?? []
        let sorted = files.compactMap { $0 as? URL }.sorted { $0.path < $1.path }
        let articles = sorted.filter { $0.pathExtension == "md" }
        let sources = try sorted.filter { $0.pathExtension == "swift" }
            .filter { try String(contentsOf: $0, encoding: .utf8).contains("/// ```swift\n") }
        return articles + sources
    }
}
