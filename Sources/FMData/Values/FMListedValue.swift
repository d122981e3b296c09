/// A value of a value list. The type has a constant for each value of the list. Any other text is a value too, because
/// the host accepts and sends values that are in no list.
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
/// Generated records use it (<doc:Models>). Finds accept it like its text.
public protocol FMListedValue: RawRepresentable<String>, Codable, Hashable, DataAPI.FindValue {
    /// The values of the list, in its order.
    static var listed: [Self] { get }

    /// Creates a value from the content of a field, which may be a text that is not in the list.
    init(rawValue: String)
}
