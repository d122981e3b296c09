/// The names of the layouts that a program uses, as an enum, so that a typo does not compile.
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
/// An enum of `String` needs nothing else: its raw value is the layout's name. Implement ``layoutName`` when the two
/// differ.
public protocol LayoutKey: RawRepresentable<String>, Sendable {
    /// The layout's name in the file. The default is `rawValue`.
    var layoutName: String { get }
}

extension LayoutKey {
    /// The default: the raw value.
    public var layoutName: String { rawValue }
}
