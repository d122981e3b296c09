/// Fields of a record to write, and no others: what a generated record has as `Changes` (<doc:Models>).
///
///     struct Person: LayoutRecord {
///         …
///         struct Changes: RecordChanges {
///             typealias Record = Person
///             var city: String?           // nil leaves the field as it is, "" empties it
///             var size: FMNumber??        // .some(nil) empties it
///             …
///         }
///     }
///
///     people.create(Person.Changes(city: "Paris"))
///     people.edit(17, Person.Changes(city: "London"))         // no reading before it
///
/// A record as it is read may hold what cannot be written, such as calculations, and says of each text what it is, be it empty;
/// this type holds what can be written, and writes what is set. Its keys are field names. An encoder of your own
/// (``DataAPI/Config/encoder``) writes it as it writes anything.
///
/// For a record that was read, ``DataAPI/Draft`` finds by itself what is to be written.
public protocol RecordChanges: Encodable, Sendable {
    /// Whose fields these are.
    associatedtype Record: RecordFields
    /// Rows of portals to write with them: a struct with one array per portal. The default is none.
    associatedtype Portals: Encodable, Sendable = DataAPI.EmptyPortal
}
