/// The access level of the generated types.
package enum AccessLevel: String, CaseIterable, Sendable, Decodable {
    case `internal`, `package`, `public`

    /// The modifier before a declaration.
    var modifier: String { self == .internal ? "" : "\(rawValue) " }
}
