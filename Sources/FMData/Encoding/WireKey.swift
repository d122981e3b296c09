/// A key whose name is known only at run time: a field, a portal, `limit.<portal>`.
struct WireKey: CodingKey, Hashable, Sendable, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringLiteral value: String) { stringValue = value }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
