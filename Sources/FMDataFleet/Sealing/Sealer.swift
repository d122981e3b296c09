/// Makes the tokens that lie in the store unreadable for everybody but the members of a fleet.
struct Sealer: Sendable {
    /// - Parameter place: where the sealed content will be; it cannot be opened anywhere else.
    var seal: @Sendable (_ content: [UInt8], _ place: String) throws -> [UInt8]
    /// Returns `nil` when it was sealed with an unknown key, for another place, or was changed.
    var open: @Sendable (_ sealed: [UInt8], _ place: String) -> [UInt8]?
}

extension Sealer {
    func seal(_ token: String, _ place: String) throws -> [UInt8] { try seal(Array(token.utf8), place) }

    func token(_ sealed: [UInt8], _ place: String) -> String? {
        open(sealed, place).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
