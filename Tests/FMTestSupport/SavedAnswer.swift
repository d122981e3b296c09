public import Foundation
public import Testing

/// An answer of the Data API in a file, and what the index of its collection says of it.
///
/// There are two collections of the same files. ``own`` is part of the repository and written for it: the keys, their order, the
/// white space and the way values are spelled are those of servers and of other clients' examples, the names and values are
/// invented. ``recorded`` holds the answers as others recorded or wrote them. They are not ours to pass on, so they lie beside the
/// repository, where there are any.
public struct SavedAnswer: Decodable, Sendable, CustomTestStringConvertible {
    /// From the folder of the collection.
    public var file: String
    /// What was called: the folder of the file.
    public var group: String
    /// Whether it is all of the body. Otherwise the client that saved it took the envelope off.
    public var enveloped: Bool
    /// What is known of the status it came with.
    public var httpStatus: Int?
    public var serverVersion: String?
    /// Whether an author wrote it as an example. Otherwise a server sent it, or one that is spelled like it.
    public var synthetic: Bool

    private var folder = Self.ownFolder

    private enum CodingKeys: String, CodingKey {
        case file, group, enveloped, httpStatus, serverVersion, synthetic
    }

    public var isJSON: Bool { file.hasSuffix(".json") }
    public var testDescription: String { "\(folder == Self.ownFolder ? "own" : "recorded") \(file)" }

    public func bytes() throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(file)))
    }

    // MARK: The collections

    public static let ownFolder = Committed.root.appendingPathComponent("Tests/FMDataTests/Answers")

    public static let own = collection(in: ownFolder) ?? []

    /// Nil where there are no recordings.
    public static let recorded = collection(
        in: Committed.root.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    )

    /// All that there are.
    public static let everywhere = own + (recorded ?? [])

    /// One of ``own``.
    ///
    /// - Parameter name: the file, without ".json".
    public static func named(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> SavedAnswer {
        try #require(own.first { $0.file == "\(name).json" }, "no answer \(name)", sourceLocation: sourceLocation)
    }

    private static func collection(in folder: URL) -> [SavedAnswer]? {
        guard let index = try? Data(contentsOf: folder.appendingPathComponent("index.json")) else { return nil }
        // Of an index that cannot be read there is nothing, and the tests that look for each file say so.
        let answers = try? JSONDecoder().decode([SavedAnswer].self, from: index)
        return (answers ?? []).map { answer in
            var answer = answer
            answer.folder = folder
            return answer
        }
    }
}
