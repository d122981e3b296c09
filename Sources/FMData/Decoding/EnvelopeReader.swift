/// Reads a whole answer: `{"response": {…}, "messages": [{"code": "0", "message": "OK"}]}`, the keys in any order.
///
/// The messages come first and the response only when asked for, since the response of a refusal is empty and would fail
/// to decode as anything.
struct EnvelopeReader {
    var options: DecodingOptions
    var userInfo: [CodingUserInfoKey: any Sendable]

    init(options: DecodingOptions = DecodingOptions(), userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.options = options
        self.userInfo = userInfo
    }

    /// - Returns: The messages, and a function that decodes the response.
    /// - Throws: ``DecodingFailure`` when the body is not JSON or has no envelope; the function throws the same when the
    ///   response is not what `type` expects.
    func decode<T: Decodable>(
        _ type: T.Type,
        from body: UnsafeRawBufferPointer
    ) throws(DecodingFailure) -> (messages: [Message], response: () throws(DecodingFailure) -> T) {
        let document = JSONDocument(limits: options.limits, capacity: body.count)
        let context = DecodingContext(document: document, options: options, userInfo: userInfo)
        try context.begin(whole: body)
        let messages: [Message]
        do {
            messages = try ValueDecoder(context: context, node: 0, mode: .plain).messages()
        } catch {
            throw DecodingFailure(error, in: context)
        }
        return (
            messages,
            { () throws(DecodingFailure) -> T in
                do {
                    return try ValueDecoder(context: context, node: 0, mode: .plain).response(type)
                } catch {
                    throw DecodingFailure(error, in: context)
                }
            }
        )
    }
}

extension ValueDecoder {
    private enum EnvelopeKeys: CodingKey {
        case messages, response
    }

    fileprivate func messages() throws -> [Message] {
        let envelope = try container(keyedBy: EnvelopeKeys.self)
        guard let messages = try envelope.decodeIfPresent([Message].self, forKey: .messages) else {
            throw JSONSyntaxError(reason: .missingEnvelope, offset: 0)
        }
        return messages
    }

    fileprivate func response<T: Decodable>(_ type: T.Type) throws -> T {
        try container(keyedBy: EnvelopeKeys.self).decode(type, forKey: .response)
    }
}

extension DecodingContext {
    /// The one value of a whole JSON text is going to be decoded.
    func begin(whole text: UnsafeRawBufferPointer) throws(DecodingFailure) {
        document.append(text)
        do {
            try document.readWhole()
        } catch {
            throw DecodingFailure(error)
        }
        begin()
    }
}

extension JSONDocument {
    /// Reads the only value there is.
    func readWhole() throws(JSONSyntaxError) {
        skipByteOrderMark()
        guard nextByte() != nil else { throw syntaxError(.truncated, at: count) }
        beginValue()
        _ = try readValue(isLast: true)
        guard nextByte() == nil else { throw syntaxError(.trailingBytes, at: position) }
    }

    /// Skips the three bytes some editors and proxies put before a text. `false` when the bytes so far do not tell.
    @discardableResult
    func skipByteOrderMark() -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let found = (0..<min(count, 3)).allSatisfy { bytes[$0] == mark[$0] }
        guard found else { return true }
        guard count >= 3 else { return false }
        position = 3
        return true
    }
}
