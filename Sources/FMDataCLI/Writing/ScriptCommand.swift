import ArgumentParser
import FMData
import Foundation

/// `fmdata script`: runs a script.
struct ScriptCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Runs a script, and prints its result.",
        discussion: """
            The result is printed as it is, or as an object with --json. A script that ends with an error has run; the error is \
            said, and the status is 1.
            """
    )

    @Argument(help: "The layout that is the script's context.", completion: .layouts)
    var layout: String

    @Argument(help: "The script.", completion: .scripts)
    var script: String

    @Argument(help: "Its parameter; @file is the text of a file, - is standard input.")
    var parameter: String?

    @Flag(help: "Send the parameter in a body, and not in a URL, which web servers log. The layout must show a record.")
    var confidential = false

    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func validate() throws {
        if confidential, dryRun {
            throw ValidationError("--dry-run would print the parameter, which --confidential forbids.")
        }
    }

    func run() async throws {
        try await visit { visit in
            let text = try text()
            let parameter = text.map { confidential ? DataAPI.ScriptParameter.confidential($0) : .text($0) }
            let answer = try await write(visit) { $0.addLayout(layout).runScript(script, parameter: parameter) }
            guard let answer else { return }
            let error = answer.scriptError ?? "0"
            let output = StandardOutput()
            if form.errorsAreJSON {
                let object: OutputValue = [
                    "script": .text(script), "result": answer.scriptResult.map(OutputValue.text), "error": .text(error),
                ]
                try output.writeLine(object.json)
            } else if let result = answer.scriptResult {
                try output.writeLine(result)
            }
            try output.flush()
            guard error == "0" else {
                let name = FileMakerErrorCode(rawValue: Int(error) ?? -1).name
                throw CommandError("The script ended with error \(error)\(name.map { ": \($0)" } ?? "").")
            }
        }
    }

    private func text() throws -> String? {
        guard let parameter, parameter == "-" || parameter.hasPrefix("@") else { return parameter }
        let content = try FieldArguments.content(of: parameter == "-" ? "-" : String(parameter.dropFirst()))
        return String(decoding: content, as: UTF8.self)
    }
}
