/// Fields of a record to write, and no others: what a generated record has as `Changes`.
///
///     struct Person: LayoutRecord {
///         …
///         struct Changes: RecordChanges {
///             typealias Record = Person
///             var city: String?           // nil leaves the field as it is
///             …
///         }
///     }
///
/// A record as it is read may hold what cannot be written, such as calculations; this type cannot. Its keys are field names,
/// and it encodes what is set alone.
public protocol RecordChanges: Encodable, Sendable {
    /// Whose fields these are.
    associatedtype Record: RecordFields
    /// Rows of portals to write with them: a struct with one array per portal. The default is none.
    associatedtype Portals: Encodable, Sendable = DataAPI.EmptyPortal
}
