/// The messages of a response, which do not count when two responses are compared: a response made by a test equals one
/// that a server sent.
struct Aside: Hashable, Sendable {
    var messages: [DataAPI.Message] = []

    static func == (lhs: Aside, rhs: Aside) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension Aside: CustomReflectable {
    var customMirror: Mirror { Mirror(reflecting: messages) }
}
