/// A name that is compared by its bytes. `String` treats the two Unicode forms of an accented letter as equal, but in a
/// file they may be the names of two fields.
struct ExactName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactName, right: ExactName) -> Bool {
        left.text.utf8.count == right.text.utf8.count && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether the same name may be spelled with other bytes.
    var mayHaveOtherForms: Bool { utf8.contains { $0 >= 0x80 } }
}
