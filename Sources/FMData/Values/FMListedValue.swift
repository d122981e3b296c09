/// A value of a value list: a constant for each of its values, and any other text is a value too, since the host takes and sends
/// what is in no list.
///
/// ```swift
/// struct Status: FMListedValue {
///     let rawValue: String
///     init(rawValue: String) { self.rawValue = rawValue }
///
///     static let open = Self(rawValue: "open")
///     static let closed = Self(rawValue: "closed")
///     static let listed: [Self] = [.open, .closed]
/// }
///
/// struct Ticket: Codable {
///     var status: Status?                     // a menu or radio buttons; an empty field is nil
///     var tags: FMList<Status>                // check boxes
/// }
/// ```
///
/// It is what generated records have (<doc:Models>). Finds take it as they take its text.
public protocol FMListedValue: RawRepresentable<String>, Codable, Hashable, DataAPI.FindValue {
    /// The values of the list, in its order.
    static var listed: [Self] { get }

    /// By what is in the field, also when it is no value of the list.
    init(rawValue: String)
}
