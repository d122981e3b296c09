import Foundation

/// Writes the samples of documents as one program, word for word, so that they can be compiled and run as a reader would paste
/// them.
///
///     sample-writer main-file|functions OUTPUT DOCUMENT…
///
/// All samples of a document are one text, in their order, together with what stands in comments that no reader sees
/// (`<!-- swift … -->`): what a sample takes for granted. `"fms.example.com"` becomes the address of the server that the
/// programs are given. Of a source file the comments are the document: its samples stand between fences in doc comments, and what
/// no reader sees in other ones.
@main
struct SampleWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        let documents = try arguments.dropFirst(3).map { try Document(at: URL(fileURLWithPath: $0)) }
            .filter { !$0.code.isEmpty }
        let program = arguments[1] == "main-file" ? mainFile(documents) : functions(documents)
        try program.write(toFile: arguments[2], atomically: true, encoding: .utf8)
    }

    private static func imports(_ documents: [Document]) -> String {
        Set(documents.flatMap(\.imports) + ["import SampleSurroundings"]).sorted().joined(separator: "\n")
    }

    // Each document has a function of its own where that changes nothing for its samples: the compiler takes much more
    // time for one long function than for many short ones.

    /// A `main.swift`: the first document at the top level itself, each other one in a function of the main actor, on
    /// which the top level runs.
    private static func mainFile(_ documents: [Document]) -> String {
        let others = documents.dropFirst()
        let functions = others.map {
            "@MainActor func \($0.function)() async throws {\n\($0.code)\nawait stayAlive()\n}"
        }
        let calls = others.map { "if sampleDocument == \"\($0.name)\" { try await \($0.function)() }" }
        return """
            \(imports(documents))

            beReadLineByLine()
            let sampleDocument = CommandLine.arguments[1]
            \(functions.joined(separator: "\n"))
            \(calls.joined(separator: "\n"))
            \(documents.first?.code ?? "")
            await stayAlive()

            """
    }

    /// Each document in what the `main` of an `@main` type is, a function of the main actor, in a class of the main
    /// actor, and in a nonisolated function.
    private static func functions(_ documents: [Document]) -> String {
        let calls = documents.map { document in
            """
            if place == "main", sampleDocument == "\(document.name)" { try await InMain.\(document.function)() }
            if place == "class", sampleDocument == "\(document.name)" { try await InClass().\(document.function)() }
            if place == "function", sampleDocument == "\(document.name)" { try await InFunction.\(document.function)() }
            """
        }
        func functions(_ declaration: String) -> String {
            documents.map { "\(declaration) \($0.function)() async throws {\n\($0.code)\nawait stayAlive()\n}" }
                .joined(separator: "\n")
        }
        return """
            \(imports(documents))

            @main
            struct Samples {
            static func main() async throws {
            beReadLineByLine()
            let place = CommandLine.arguments[1]
            let sampleDocument = CommandLine.arguments[2]
            \(calls.joined(separator: "\n"))
            await stayAlive()
            }
            }

            enum InMain {
            \(functions("@MainActor static func"))
            }

            @MainActor
            final class InClass {
            \(functions("func"))
            }

            enum InFunction {
            \(functions("static func"))
            }

            """
    }
}

/// The Swift in one Markdown document, or in the comments of one source file.
struct Document {
    let name: String
    let imports: [String]
    let code: String

    var function: String { "sample\(name)" }

    init(at url: URL) throws {
        name = url.deletingPathExtension().lastPathComponent
        var lines: [String] = []
        var end: String?
        for line in try Self.lines(of: url) {
            if let closing = end {
                if line.hasPrefix(closing) { end = nil } else { lines.append(line) }
            } else if line == "```swift" {
                end = "```"
            } else if line == "<!-- swift" {
                end = "-->"
            }
        }
        imports = lines.filter { $0.hasPrefix("import ") }
        code =
            lines.filter { !$0.hasPrefix("import ") }
            .joined(separator: "\n")
            .replacingOccurrences(of: "\"fms.example.com\"", with: "serverAddress")
    }

    private static func lines(of url: URL) throws -> [String] {
        let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        guard url.pathExtension == "swift" else { return lines }
        return lines.map { $0.replacing(/^\s*\/\/\/? ?/, with: "") }
    }
}
