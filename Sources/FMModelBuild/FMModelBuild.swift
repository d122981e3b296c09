import Foundation
import PackagePlugin

/// Generates the models of a target before each build, from the snapshot in its folder `FileMaker` and without the
/// network.
///
/// It is for projects that do not want generated files in their repository. A target whose generated files are
/// committed, in `Generated`, does not need it.
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
        // The files of a target must have different names, and programs may have their own file named Models.
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
