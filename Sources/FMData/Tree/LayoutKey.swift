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
/// differ. A text is a key, too, so that a layout can be named by either wherever one is asked for.
public protocol LayoutKey: Sendable {
    /// The layout's name in the file. The default for a type with a raw value is `rawValue`.
    var layoutName: String { get }
}

extension LayoutKey where Self: RawRepresentable<String> {
    /// The default: the raw value.
    public var layoutName: String { rawValue }
}

extension String: LayoutKey {
    /// The text itself.
    public var layoutName: String { self }
}
