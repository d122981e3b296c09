// What is thrown: a `DecodingError`, as of every decoder, with the cause below it. No text here holds a value: the values of
// fields are nobody's business but the caller's.
extension DecodingContext {
    func mismatch(_ type: any Any.Type, _ node: UInt32) -> DecodingError {
        if isGap(node) { return .valueNotFound(type, place(node, .gap(wanted: type))) }
        let found = entry(node).found
        let context = place(node, .otherKind(wanted: type, found: found))
        return found == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func emptyField(_ type: any Any.Type, _ node: UInt32) -> DecodingError {
        .valueNotFound(type, place(node, .empty(wanted: type)))
    }

    func corrupted(_ node: UInt32, _ cause: DecodingCause) -> DecodingError {
        .dataCorrupted(place(node, cause))
    }

    func missing(_ key: some CodingKey, _ object: UInt32) -> DecodingError {
        .keyNotFound(key, place(object, .missing(name: key.stringValue)))
    }

    private func place(_ node: UInt32, _ cause: DecodingCause) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath(node), cause: cause)
    }
}

extension DecodingError.Context {
    /// The place of an error whose cause is known.
    init(codingPath: [any CodingKey], cause: DecodingCause) {
        self.init(
            codingPath: codingPath,
            debugDescription: DecodingAccount(cause: cause).reason,
            underlyingError: cause
        )
    }
}
