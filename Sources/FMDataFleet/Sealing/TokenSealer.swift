/// Makes tokens unreadable for everybody but the members of a fleet.
struct TokenSealer: Sendable {
    /// - Parameter place: where the sealed token will be; it cannot be opened anywhere else.
    var seal: @Sendable (_ token: String, _ place: String) throws -> [UInt8]
    /// Returns `nil` when it was sealed with an unknown key, for another place, or was changed.
    var open: @Sendable (_ sealed: [UInt8], _ place: String) -> String?
}
