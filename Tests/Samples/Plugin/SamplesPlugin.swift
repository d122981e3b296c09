import Foundation
import PackagePlugin

/// Turns the samples in README, the DocC articles and doc comments into programs, before each build of the targets that
/// run them.
@main
struct SamplesPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let libraries = ["FMData", "FMSandbox", "FMTesting", "FMWebhooks"].map { root.appending(path: "Sources/\($0)") }
        let files = [root.appending(path: "README.md")] + (try libraries.flatMap(Self.files))
        let isMainFile = target.name == "samples-in-main-file"
        let output = context.pluginWorkDirectoryURL.appending(path: isMainFile ? "main.swift" : "Functions.swift")
        return [
            .buildCommand(
                displayName: "Samples of README, DocC and doc comments as \(output.lastPathComponent)",
                executable: try context.tool(named: "sample-writer").url,
                arguments: [isMainFile ? "main-file" : "functions", output.path] + files.map(\.path),
                inputFiles: files,
                outputFiles: [output]
            )
        ]
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
