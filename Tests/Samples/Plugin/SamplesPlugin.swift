import Foundation
import PackagePlugin

/// Makes programs of the samples in README and the DocC articles, before each build of the targets that run them.
@main
struct SamplesPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let catalogue = root.appending(path: "Sources/FMData/Documentation.docc")
        let articles = try FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
            .sorted { $0.path < $1.path }
        let documents = [root.appending(path: "README.md")] + articles
        let isMainFile = target.name == "samples-in-main-file"
        let output = context.pluginWorkDirectoryURL.appending(path: isMainFile ? "main.swift" : "Functions.swift")
        return [
            .buildCommand(
                displayName: "Samples of README and DocC as \(output.lastPathComponent)",
                executable: try context.tool(named: "sample-writer").url,
                arguments: [isMainFile ? "main-file" : "functions", output.path] + documents.map(\.path),
                inputFiles: documents,
                outputFiles: [output]
            )
        ]
    }
}
