/// Who may use the generated types.
package enum AccessLevel: String, CaseIterable, Sendable, Decodable {
    case `internal`, `package`, `public`

    /// What stands before a declaration.
    var modifier: String { self == .internal ? "" : "\(rawValue) " }
}
