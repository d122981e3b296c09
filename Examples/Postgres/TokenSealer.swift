import Crypto
import Foundation

/// Seals tokens with AES-256 in Galois/Counter mode, so that whoever reads the table cannot use the sessions. A token
/// is opened only in the slot that it was sealed for.
struct TokenSealer: Sendable {
    private let key: SymmetricKey

    /// - Parameter key: 32 random bytes, the same in all processes.
    init(key: [UInt8]) {
        self.key = SymmetricKey(data: key)
    }

    func seal(_ token: String, for place: String) throws -> String {
        let box = try AES.GCM.seal(Data(token.utf8), using: key, authenticating: Data(place.utf8))
        guard let sealed = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return sealed.base64EncodedString()
    }

    /// Returns `nil` when it was sealed with another key or for another place, or was changed.
    func open(_ sealed: String, at place: String) -> String? {
        guard let bytes = Data(base64Encoded: sealed), let box = try? AES.GCM.SealedBox(combined: bytes),
            let token = try? AES.GCM.open(box, using: key, authenticating: Data(place.utf8))
        else { return nil }
        return String(validating: token, as: UTF8.self)
    }
}
