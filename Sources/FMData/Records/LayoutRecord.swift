/// The fields of a record as a program sees them, with the rows of the portals that it wants.
///
/// Declare ``LayoutRecord``, which adds the layout; this protocol is what is left when the layout is said elsewhere, and what
/// ``FieldData`` conforms to.
public protocol RecordFields: Codable, Sendable {
    /// The names of the fields on the layout. Write the enum out: keys that the compiler makes up are private to the type.
    associatedtype CodingKeys: CodingKey
    /// The rows of the layout's portals: a struct with one array per portal. The default is none, and then none are asked for.
    associatedtype Portals: Codable, Sendable = DataAPI.EmptyPortal
    /// The fields that are read and never written with a whole record: calculations, summaries, globals, containers,
    /// fields of other tables. `nil`, the default, has the layout asked, at most once a minute, before a whole record
    /// is written; generated types list them (<doc:Models>). Fields of other tables (`Customers::City`) need not be
    /// listed.
    static var readOnlyFields: [CodingKeys]? { get }
}

extension RecordFields {
    /// `nil`: the layout is asked.
    public static var readOnlyFields: [CodingKeys]? { nil }
}

/// A record of one layout: which layout that is, its fields, and the portals that matter.
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
/// The text of a coding key is the field's name on the layout. A property that is optional reads an empty field as `nil`.
///
/// With portals the type names them, each by its object name on the layout or by its table:
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

extension FieldData: RecordFields {
    /// The name of a field, known at run time or written as a text.
    public struct CodingKeys: CodingKey, ExpressibleByStringLiteral, Hashable, Sendable {
        /// The name on the layout.
        public let stringValue: String
        /// `nil`: fields have names.
        public var intValue: Int? { nil }

        /// A field by its name on the layout.
        public init(stringValue: String) { self.stringValue = stringValue }
        /// A field by its name on the layout.
        public init(stringLiteral name: String) { stringValue = name }
        /// `nil`: fields have names.
        public init?(intValue: Int) { nil }
    }
}
