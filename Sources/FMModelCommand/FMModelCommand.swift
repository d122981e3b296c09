import Foundation
import PackagePlugin

/// `swift package generate-models [--check] [--target NAME]…`: writes a folder `Generated` next to each folder
/// `FileMaker` of the targets, or with `--check` reports the differences.
@main
struct FMModelCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        var arguments = ArgumentExtractor(arguments)
        let isCheck = arguments.extractFlag(named: "check") > 0
        let names = arguments.extractOption(named: "target")
        guard arguments.remainingArguments.isEmpty else {
            throw Failure(
                "unknown: \(arguments.remainingArguments.joined(separator: " ")); known are --check, --target"
            )
        }
        let targets = try names.isEmpty ? context.package.targets : context.package.targets(named: names)
        let folders = targets.flatMap { Self.models(in: $0.directoryURL) }
        guard !folders.isEmpty else { throw Failure("no target has a snapshot in a folder FileMaker") }
        let tool = try context.tool(named: "FMModelTool").url
        var differs = false
        for folder in folders {
            let process = Process()
            process.executableURL = tool
            process.arguments = [isCheck ? "check" : "generate", folder.path]
            try process.run()
            process.waitUntilExit()
            switch process.terminationStatus {
            case 0: break
            case 3: differs = true
            default: throw Failure("the models in \(folder.path) were not made")
            }
        }
        if differs { throw Failure("generated files are not what the snapshot says") }
    }

    /// The folders that have a folder `FileMaker` with JSON files in it. Other folders of that name may have other
    /// files.
    private static func models(in folder: URL) -> [URL] {
        let entries = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        let snapshots = entries.compactMap { $0 as? URL }
            .filter { $0.pathExtension == "json" }
            .map { $0.deletingLastPathComponent() }
            .filter { $0.lastPathComponent == "FileMaker" }
        return Set(snapshots.map { $0.deletingLastPathComponent().standardizedFileURL })
            .sorted { $0.path < $1.path }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
