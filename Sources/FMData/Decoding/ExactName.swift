/// A name that is told from others by its bytes. To `String` a letter with its accent is the same in both forms that Unicode
/// has for it, but in a file the two may be the names of two fields.
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
    /// Whether other bytes may spell the same name.
    var mayHaveOtherForms: Bool { utf8.contains { $0 >= 0x80 } }
}
