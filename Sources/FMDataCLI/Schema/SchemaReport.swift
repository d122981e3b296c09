import FMModel
import Foundation

/// Changes of layouts, for a person and for a program.
struct SchemaReport {
    let changes: [SchemaChange]

    init(_ changes: [SchemaChange]) { self.changes = changes }

    /// A line for each change, under the layout that it is of; empty when there are none.
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

    /// The changes as a list of objects.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(changes), as: UTF8.self)
    }
}
