extension KeyedDecodingContainer {
    /// Decodes an id, a code or a count. Most servers send ids and codes as text and counts as numbers; others do the
    /// reverse.
    func decodeWireInteger(forKey key: Key) throws -> Int {
        do {
            return try decode(Int.self, forKey: key)
        } catch DecodingError.typeMismatch {
            let text = try decode(String.self, forKey: key)
            guard let number = Int(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key,
                    in: self,
                    debugDescription: "The text is not an integer."
                )
            }
            return number
        }
    }

    /// Like ``decodeWireInteger(forKey:)``, but returns `nil` if the key is absent or `null`.
    func decodeWireIntegerIfPresent(forKey key: Key) throws -> Int? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try decodeWireInteger(forKey: key)
    }

    /// Decodes a text that some servers and proxies send as a number: a code, a script error.
    func decodeWireTextIfPresent(forKey key: Key) throws -> String? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        do {
            return try decode(String.self, forKey: key)
        } catch DecodingError.typeMismatch {
            return String(try decode(Int.self, forKey: key))
        }
    }
}
