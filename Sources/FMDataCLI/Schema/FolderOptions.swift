import ArgumentParser
import FMModel
import Foundation

/// The folder of a program's models.
struct FolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the models: the snapshot in its folder FileMaker, the Swift files in its folder Generated.",
            valueName: "folder"
        )
    )
    var models = "."

    var folder: ModelFolder { ModelFolder(URL(fileURLWithPath: models, isDirectory: true)) }
}
