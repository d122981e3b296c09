/// A key whose name is known only at run time: a field, a portal, `limit.<portal>`.
package struct WireKey: CodingKey, Hashable, Sendable, ExpressibleByStringLiteral {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ name: String) { stringValue = name }
    package init(stringLiteral value: String) { stringValue = value }
    package init?(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
