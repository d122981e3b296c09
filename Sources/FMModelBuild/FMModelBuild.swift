import Foundation
import PackagePlugin

/// Makes the models of a target before each build: from the snapshot in its folder `FileMaker`, without the network.
///
/// It is for those who do not want generated files in their repository. With files that are committed, in `Generated`, a target
/// has no use for it.
@main
struct FMModelBuild: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let snapshot = target.directoryURL.appending(path: "FileMaker")
        let entries = try? FileManager.default.contentsOfDirectory(at: snapshot, includingPropertiesForKeys: nil)
        let files = (entries ?? [])
            .filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }
        guard !files.isEmpty else {
            Diagnostics.error("\(snapshot.path) holds no snapshot; `fmdata schema fetch` writes it")
            return []
        }
        // No two files of a target may have one name, and programs have files of their own called Models.
        let output = context.pluginWorkDirectoryURL.appending(path: "FileMakerModels.swift")
        return [
            .buildCommand(
                displayName: "Models of \(target.name)",
                executable: try context.tool(named: "FMModelTool").url,
                arguments: ["file", snapshot.path, output.path],
                inputFiles: files,
                outputFiles: [output]
            )
        ]
    }
}
