/// A name that is compared byte by byte. Texts that differ only in their Unicode form are equal as `String`, but are
/// two names to a host.
package struct SchemaName: Hashable, Comparable, Sendable {
    let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: SchemaName, right: SchemaName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    package static func < (left: SchemaName, right: SchemaName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
