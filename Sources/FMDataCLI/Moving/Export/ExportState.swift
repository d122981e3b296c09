import FMModel
import Foundation

/// What an export writes: when any of this differs, its parts do not fit together.
struct ExportPlan: Codable, Equatable {
    var host: String
    var database: String
    var layout: String
    /// The find in words and as JSON; empty for all records.
    var query: String
    var sort: [String]
    var portals: [String]
    /// The columns with their types.
    var columns: [String]
    var form: ExportForm
    var options: [String]
    /// The field in whose order the records are written; nil if they have no such order.
    var key: String?

    /// What differs in another plan, in words.
    func differences(from other: ExportPlan) -> [String] {
        func differs<Value: Equatable>(_ name: String, _ path: KeyPath<ExportPlan, Value>) -> String? {
            self[keyPath: path] == other[keyPath: path] ? nil : name
        }
        return [
            differs("the host", \.host), differs("the database", \.database), differs("the layout", \.layout),
            differs("the conditions", \.query), differs("the order", \.sort), differs("the portals", \.portals),
            differs("the fields", \.columns), differs("the form", \.form), differs("the options", \.options),
            differs("the key", \.key),
        ].compactMap(\.self)
    }
}

/// How far an export has come, in a file beside its part.
struct ExportState: Codable {
    var plan: ExportPlan
    /// The rows of the part, and the bytes that they end with.
    var rowCount: Int
    var byteCount: Int
    /// The key of the last row.
    var lastKey: String
    /// The ids of the rows with this key.
    var lastIds: [Int]
    /// Whether others have changed the records while the rows were read.
    var hasDrifted: Bool

    /// The file beside the part of an export.
    static func file(of path: String) -> PrivateFile {
        PrivateFile(URL(fileURLWithPath: PartFile.part(of: path) + ".json"))
    }

    /// Reads the state of an export that was not completed. Throws if there is none.
    static func read(of path: String) throws -> ExportState {
        let file = file(of: path)
        guard let content = try? file.read() else {
            throw CommandError("There is no incomplete export of \(path) that could be resumed.")
        }
        guard let state = try? JSONDecoder().decode(ExportState.self, from: content) else {
            throw CommandError("\(file.url.path) is damaged. Begin anew, without --resume.")
        }
        return state
    }

    func write(of path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try Self.file(of: path).write(try encoder.encode(self))
    }

    static func remove(of path: String) { unlink(file(of: path).url.path) }
}
