import Foundation

/// Writes the samples of documents as one program, word for word, so that they can be compiled and run as a reader
/// would paste them.
///
///     sample-writer main-file|functions|functions-with-traits FOLDER FILE…
///
/// The folder gets a file for each document, so that several can be compiled at a time, and `main.swift` or
/// `Start.swift` with the calls.
///
/// All samples of a document are one text, in their order. Code in hidden comments (`<!-- swift … -->`) is included: it
/// contains what the samples presuppose. Addresses are replaced by those that exist where the programs run.
///
/// A sample that needs the package's traits stands behind the line `<!-- with traits -->`; hidden code that needs them
/// stands in a comment that begins with `<!-- swift with traits`. Only the program with traits has them, which is built
/// in `Tests/Ecosystem`.
///
/// An article is a document. So is the page of a library, `FMData.md`, together with the doc comments of the library's
/// sources: the samples of each source file follow it in a scope of their own, and can use the page's hidden
/// declarations.
@main
struct SampleWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        let folder = URL(fileURLWithPath: arguments[2])
        let files = arguments.dropFirst(3).map { URL(fileURLWithPath: $0) }
        var documents = try Document.of(files, hasTraits: arguments[1] == "functions-with-traits")
        let isMainFile = arguments[1] == "main-file"
        // The first document of a main file is at its top level itself.
        let top = isMainFile ? documents.removeFirst() : nil
        let start = top.map { mainFile($0, documents) } ?? self.start(documents)
        try start.write(
            to: folder.appending(path: isMainFile ? "main.swift" : "Start.swift"),
            atomically: true,
            encoding: .utf8
        )
        for name in Set(files.map(Document.name)) where name != top?.name {
            let text = documents.first { $0.name == name }.map(isMainFile ? mainActorFunction : functions) ?? ""
            try text.write(to: folder.appending(path: "\(name).swift"), atomically: true, encoding: .utf8)
        }
        // It has been declared as a file of the program, and all of it stands in `main.swift`.
        if let top { try Data().write(to: folder.appending(path: "\(top.name).swift")) }
    }

    private static func imports(_ document: Document?) -> String {
        Set((document?.imports ?? []) + ["import SampleSurroundings"]).sorted().joined(separator: "\n")
    }

    /// A `main.swift`: one document is at the top level. Each other one is in a main-actor function, since the top
    /// level runs on the main actor.
    private static func mainFile(_ top: Document, _ others: [Document]) -> String {
        let calls = others.map { "if sampleDocument == \"\($0.name)\" { try await \($0.function)(); endProgram() }" }
        return """
            \(imports(top))

            beReadLineByLine()
            let sampleDocument = CommandLine.arguments[1]
            \(calls.joined(separator: "\n"))
            if sampleDocument != "\(top.name)" { failWithoutDocument() }
            \(top.code)
            await endSample()

            """
    }

    private static func mainActorFunction(_ document: Document) -> String {
        "\(imports(document))\n\n@MainActor \(function(document))\n"
    }

    /// Calls each document in three places: in a main-actor function like the `main` of an `@main` type, in a
    /// main-actor class, and in a nonisolated function.
    private static func start(_ documents: [Document]) -> String {
        let calls = documents.map { document in
            """
            if place == "main", sampleDocument == "\(document.name)" { return try await InMain.\(document.function)() }
            if place == "class", sampleDocument == "\(document.name)" { return try await InClass().\(document.function)() }
            if place == "function", sampleDocument == "\(document.name)" { return try await InFunction.\(document.function)() }
            """
        }
        return """
            \(imports(nil))

            @main
            struct Start {
            static func main() async throws {
            beReadLineByLine()
            let place = CommandLine.arguments[1]
            let sampleDocument = CommandLine.arguments[2]
            \(calls.joined(separator: "\n"))
            failWithoutDocument()
            }
            }

            enum InMain {}

            @MainActor final class InClass {}

            enum InFunction {}

            """
    }

    private static func functions(_ document: Document) -> String {
        """
        \(imports(document))

        extension InMain {
        @MainActor static \(function(document))
        }

        extension InClass {
        \(function(document))
        }

        extension InFunction {
        static \(function(document))
        }

        """
    }

    private static func function(_ document: Document) -> String {
        "func \(document.function)() async throws {\n\(document.code)\nawait endSample()\n}"
    }
}

/// The Swift code of a Markdown document, and of the comments of source files that belong to it.
struct Document {
    let name: String
    private(set) var imports: [String] = []
    private(set) var code = ""

    var function: String { "sample\(name)" }

    /// The documents that have samples, in the order of their files.
    static func of(_ files: [URL], hasTraits: Bool) throws -> [Document] {
        var documents: [Document] = []
        for file in files {
            let lines = try samples(in: file, hasTraits: hasTraits)
            guard !lines.isEmpty else { continue }
            let name = Self.name(of: file)
            let index = documents.firstIndex { $0.name == name } ?? documents.endIndex
            if index == documents.endIndex { documents.append(Document(name: name)) }
            documents[index].add(file.pathExtension == "swift" ? function(around: lines, of: file) : lines)
        }
        return documents
    }

    /// A function for the samples of a source file, and its call.
    private static func function(around lines: [String], of source: URL) -> [String] {
        let name = "of" + source.deletingPathExtension().lastPathComponent.filter(\.isLetter)
        return lines.filter { $0.hasPrefix("import ") } + ["func \(name)() async throws {"]
            + lines.filter { !$0.hasPrefix("import ") } + ["}", "try await \(name)()"]
    }

    private init(name: String) { self.name = name }

    private mutating func add(_ lines: [String]) {
        imports += lines.filter { $0.hasPrefix("import ") }
        code += lines.filter { !$0.hasPrefix("import ") }.map { Self.inPlace($0) + "\n" }.joined()
    }

    /// An article is a document; `Sources/FMDataCore/Tree/Server.swift` belongs to `FMData`, whose modules are one to
    /// users.
    static func name(of file: URL) -> String {
        guard file.pathExtension == "swift" else { return file.deletingPathExtension().lastPathComponent }
        let module = file.pathComponents.drop { $0 != "Sources" }.dropFirst().first ?? ""
        return module.hasPrefix("FMData") ? "FMData" : module
    }

    /// Replaces the samples' host and store by those that the programs get. Samples that listen themselves use a port
    /// chosen by the system, and the server reaches them on this machine.
    private static func inPlace(_ line: String) -> String {
        line.replacingOccurrences(of: "\"fms.example.com\"", with: "serverAddress")
            .replacingOccurrences(of: "host: \"cache.example.com\"", with: "socketPath: storeSocket")
            .replacingOccurrences(of: "port: 8055", with: "port: 0")
            .replacingOccurrences(of: "\"http://10.0.0.7:8055\"", with: #""http://127.0.0.1:\(receiver.port ?? 0)""#)
    }

    private static func samples(in file: URL, hasTraits: Bool) throws -> [String] {
        var lines: [String] = []
        var end: String?
        var isWanted = true
        var before = ""
        for line in try Self.lines(of: file) {
            if let closing = end {
                if line.hasPrefix(closing) { end = nil } else if isWanted { lines.append(line) }
            } else if line == "```swift" {
                end = "```"
                isWanted = hasTraits || before != "<!-- with traits -->"
            } else if line == "<!-- swift" || line == "<!-- swift with traits" {
                end = "-->"
                isWanted = hasTraits || line == "<!-- swift"
            }
            before = line
        }
        return lines
    }

    /// The lines of a document, or the comment lines of a source file.
    private static func lines(of file: URL) throws -> [String] {
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        guard file.pathExtension == "swift" else { return lines }
        return lines.map { $0.replacing(/^\s*\/\/\/? ?/, with: "") }
    }
}
