extension DataAPI {
    /// The types that an id may be declared and passed as: an `Int`, a `String`, or an optional of one of them, for
    /// servers that leave an id out.
    ///
    ///     layout.deleteRecord(recordId: 17)
    ///     layout.deleteRecord(recordId: row.recordId)         // declared as String
    ///
    /// A call that gets a text that is no number, or `nil` where it needs an id, fails with
    /// ``FMRest/APIError/Code/invalidRequest`` and sends nothing.
    public protocol RecordIdentifier: Codable, Hashable, Sendable {
        /// The id as a number; `nil` for none and for a text that is no number.
        static func recordNumber(_ id: Self) -> Int?
    }
}

extension Int: DataAPI.RecordIdentifier {
    /// The number itself.
    public static func recordNumber(_ id: Int) -> Int? { id }
}

extension String: DataAPI.RecordIdentifier {
    /// The number that the text contains; `nil` when it is no number.
    public static func recordNumber(_ id: String) -> Int? { Int(id) }
}

extension Optional: DataAPI.RecordIdentifier where Wrapped: DataAPI.RecordIdentifier {
    /// The number of the wrapped id; `nil` for `nil`.
    public static func recordNumber(_ id: Wrapped?) -> Int? { id.flatMap(Wrapped.recordNumber) }
}
