/// Values by name. Names are compared exactly or without case.
///
/// The Data API guide asks clients to treat URLs as case-sensitive, while FileMaker itself does not distinguish `name`
/// from `Name`. The sandbox compares exactly by default.
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
