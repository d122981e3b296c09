/// Things by their names: as they are spelt, or whatever the case.
///
/// The Data API guide asks clients to treat URLs as case-sensitive, FileMaker itself does not tell `name` from `Name`; the
/// sandbox is strict unless it is told otherwise.
struct NameTable<Value: Sendable>: Sendable {
    private var values: [String: Value] = [:]
    private let ignoresCase: Bool

    init(ignoresCase: Bool) {
        self.ignoresCase = ignoresCase
    }

    subscript(name: String) -> Value? {
        get { values[key(name)] }
        set { values[key(name)] = newValue }
    }

    private func key(_ name: String) -> String { ignoresCase ? name.lowercased() : name }
}
