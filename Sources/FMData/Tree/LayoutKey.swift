/// Names the layouts a program uses, so that a typo does not compile.
///
/// ```swift
/// enum Layouts: String, LayoutKey {
///     case people = "Contacts"
///     case openOrders = "Orders (open)"
/// }
///
/// let people = database.addLayout(Layouts.people)
/// print(people.name)                                          // Contacts
/// ```
///
/// An enum of `String` needs nothing more: its raw value is the layout's name. Give ``layoutName`` when the two differ.
public protocol LayoutKey: RawRepresentable<String>, Sendable {
    /// The layout's name in the file. The default is `rawValue`.
    var layoutName: String { get }
}

extension LayoutKey {
    /// The raw value.
    public var layoutName: String { rawValue }
}
