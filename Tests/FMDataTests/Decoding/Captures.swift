import Foundation
import Testing

/// Answers that were recorded from real servers.
enum Capture {
    /// The bytes of `group/name.json`.
    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Captures")
        return Array(try Data(contentsOf: folder.appendingPathComponent(name + ".json")))
    }

    /// All there are, by name. `index.json`, which says where they come from, is none.
    static func all() throws -> [String] {
        let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Captures")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasSuffix(".json") }
            .sorted()
            .flatMap(names)
    }

    /// All of a group, by name.
    static func names(in group: String) throws -> [String] {
        let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Captures/\(group)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }
            .map { "\(group)/\($0.dropLast(5))" }
            .sorted()
    }
}
