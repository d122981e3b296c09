import Foundation
import PackagePlugin

/// Makes programs of the samples in README, the DocC articles and doc comments, before each build of the targets that run them.
@main
struct SamplesPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let sources = root.appending(path: "Sources/FMData")
        let catalogue = sources.appending(path: "Documentation.docc")
        let articles = try FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
            .sorted { $0.path < $1.path }
        let documents = [root.appending(path: "README.md")] + articles + (try commented(in: sources))
        let isMainFile = target.name == "samples-in-main-file"
        let output = context.pluginWorkDirectoryURL.appending(path: isMainFile ? "main.swift" : "Functions.swift")
        return [
            .buildCommand(
                displayName: "Samples of README, DocC and doc comments as \(output.lastPathComponent)",
                executable: try context.tool(named: "sample-writer").url,
                arguments: [isMainFile ? "main-file" : "functions", output.path] + documents.map(\.path),
                inputFiles: documents,
                outputFiles: [output]
            )
        ]
    }
    /// Source files with samples between fences. Samples that are merely indented are sketches.
    private func commented(in folder: URL) throws -> [URL] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        return try files.compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" }
            .filter { try String(contentsOf: $0, encoding: .utf8).contains("/// ```swift\n") }
            .sorted { $0.path < $1.path }
    }
}
