public import Foundation
public import Testing

/// An answer of the Data API in a file, with its entry in the index of its collection.
///
/// There are two collections in the same format. ``own`` is part of the repository and written for it: the keys, their
/// order, the white space and the notation of values are those of servers and of other clients' examples; the names and
/// values are invented. ``recorded`` has answers that others recorded or wrote. They may not be distributed with this
/// package, so they are beside the repository, if they are there at all.
public struct SavedAnswer: Decodable, Sendable, CustomTestStringConvertible {
    /// The path from the folder of the collection.
    public var file: String
    /// The kind of call: the folder of the file.
    public var group: String
    /// Whether the body is complete. Otherwise the client that saved it removed the envelope.
    public var enveloped: Bool
    /// The status it came with, if known.
    public var httpStatus: Int?
    /// The version of the server, if known.
    public var serverVersion: String?
    /// Whether an author wrote it as an example. Otherwise a server sent it, or it is written like one that a server
    /// sent.
    public var synthetic: Bool

    private var folder = Self.ownFolder

    private enum CodingKeys: String, CodingKey {
        case file, group, enveloped, httpStatus, serverVersion, synthetic
    }

    /// Whether the file is JSON.
    public var isJSON: Bool { file.hasSuffix(".json") }
    /// The collection and the file, for the output of tests.
    public var testDescription: String { "\(folder == Self.ownFolder ? "own" : "recorded") \(file)" }

    /// Returns the content of the file.
    public func bytes() throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(file)))
    }

    // MARK: The collections

    /// The folder of the collection ``own``.
    public static let ownFolder = Committed.root.appendingPathComponent("Tests/FMDataCoreTests/Answers")

    /// The answers that are part of the repository.
    public static let own = collection(in: ownFolder) ?? []

    /// `nil` if there are no recordings.
    public static let recorded = collection(
        in: Committed.root.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    )

    /// The answers of both collections.
    public static let everywhere = own + (recorded ?? [])

    /// An answer of ``own``.
    ///
    /// - Parameter name: the file, without ".json".
    public static func named(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> SavedAnswer {
        try #require(own.first { $0.file == "\(name).json" }, "no answer \(name)", sourceLocation: sourceLocation)
    }

    private static func collection(in folder: URL) -> [SavedAnswer]? {
        guard let index = try? Data(contentsOf: folder.appendingPathComponent("index.json")) else { return nil }
        // An unreadable index counts as empty, and the tests that need its files fail.
        let answers = try? JSONDecoder().decode([SavedAnswer].self, from: index)
        return (answers ?? []).map { answer in
            var answer = answer
            answer.folder = folder
            return answer
        }
    }
}
