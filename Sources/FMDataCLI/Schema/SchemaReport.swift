import FMModel
import Foundation

/// The changes of layouts, for people and for programs.
struct SchemaReport {
    let changes: [SchemaChange]

    init(_ changes: [SchemaChange]) { self.changes = changes }

    /// A line for each change, grouped by layout; empty if there are none.
    var text: String {
        var text = ""
        var layout: String?
        for change in changes {
            if change.layout != layout { text += "\(change.layout):\n" }
            layout = change.layout
            text += "  \(change.text)\n"
        }
        return text
    }

    /// The changes as a JSON array of objects.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(changes), as: UTF8.self)
    }
}
