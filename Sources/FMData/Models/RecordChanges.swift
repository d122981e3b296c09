/// Fields of a record to write, and no others: the `Changes` of a generated record (<doc:Models>).
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
///     people.edit(17, setting: Person.Changes(city: "London"))         // no reading before it
///
/// A record that was read may hold fields that cannot be written, such as calculations, and has a value for each text,
/// even an empty one; this type holds only fields that can be written, and writes those that are set. Its keys are
/// field names. An encoder of your own (``DataAPI/Config/encoder``) writes it like any other value.
///
/// For a record that was read, ``DataAPI/Draft`` finds the differences by itself.
public protocol RecordChanges: Encodable, Sendable {
    /// The record type of the fields.
    associatedtype Record: RecordFields
    /// Portal rows to write with them: a struct with one array per portal. The default is none.
    associatedtype Portals: Encodable, Sendable = DataAPI.EmptyPortal
}
