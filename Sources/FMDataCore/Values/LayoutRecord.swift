/// The fields of a record as a program declares them, with the rows of the portals it needs.
///
/// Declare ``LayoutRecord``, which adds the layout. This protocol is for uses where the layout is named elsewhere;
/// ``FieldData`` conforms to it.
public protocol RecordFields: Codable, Sendable {
    /// The names of the fields on the layout. Write the enum yourself: keys that the compiler synthesizes are private
    /// to the type.
    associatedtype CodingKeys: CodingKey
    /// The rows of the layout's portals: a struct with one array per portal. By default there are no portals, and none
    /// are requested.
    associatedtype Portals: Codable, Sendable = DataAPI.EmptyPortal
    /// The fields that are read and never written with a whole record: calculations, summaries, globals, containers,
    /// fields of other tables. With `nil`, the default, the layout's metadata is requested, at most once a minute,
    /// before a whole record is written; generated types list the fields (<doc:Models>). Fields of other tables
    /// (`Customers::City`) need not be listed.
    static var readOnlyFields: [CodingKeys]? { get }
}

extension RecordFields {
    /// `nil`: the layout's metadata is requested.
    public static var readOnlyFields: [CodingKeys]? { nil }
}

/// A record of one layout: the layout's name, the record's fields, and the portals it needs.
///
/// ```swift
/// struct Person: LayoutRecord {
///     static let layout = "Contacts"
///
///     var name: String
///     var city: String?
///
///     enum CodingKeys: String, CodingKey {
///         case name = "Name"
///         case city = "City"
///     }
/// }
///
/// let people = database.layout(Person.self)                   // DataAPI.TypedLayout<Person>
/// print(people.layout.name)                                   // Contacts
/// ```
///
/// The string value of a coding key is the field's name on the layout. An optional property reads an empty field as
/// `nil`.
///
/// If the type has portals, it names each by its object name on the layout or by its table:
///
///     struct Order: LayoutRecord {
///         static let layout = "Orders"
///         struct Portals: Codable, Sendable { var lines: [Line] … }
///         …
///     }
public protocol LayoutRecord: RecordFields {
    /// The layout's name in the file.
    static var layout: String { get }
}

extension FieldData: RecordFields {}

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

extension DataAPI {
    /// The portal type of a response whose portals are not needed. The portals in an answer are skipped.
    public struct EmptyPortal: Codable, Hashable, Sendable {
        /// Creates the value, which has no content.
        public init() {}
    }
}
