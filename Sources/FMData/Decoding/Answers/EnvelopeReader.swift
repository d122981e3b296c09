/// Reads a whole answer: `{"response": {…}, "messages": [{"code": "0", "message": "OK"}]}`, the keys in any order.
///
/// The messages are decoded first and the response only on request: the response of an error answer is empty, so
/// decoding it as any type would fail.
struct EnvelopeReader: ~Copyable {
    private let context: DecodingContext

    /// A reader that works with a context of ``DecodingContexts``.
    init(context: DecodingContext) { self.context = context }

    /// Takes the whole body and decodes its messages.
    ///
    /// - Throws: ``DecodingFailure`` when the body is not JSON or has no envelope.
    func messages(of body: UnsafeRawBufferPointer) throws(DecodingFailure) -> [Message] {
        try context.begin(whole: body)
        do {
            return try ValueDecoder(context: context, node: 0, mode: .plain).messages()
        } catch {
            throw DecodingFailure(error, in: context)
        }
    }

    /// Decodes the response, after ``messages(of:)-(UnsafeRawBufferPointer)``.
    ///
    /// - Throws: ``DecodingFailure`` when the response is not what the type expects.
    func response<T: Decodable>(_ type: T.Type) throws(DecodingFailure) -> T {
        do {
            return try ValueDecoder(context: context, node: 0, mode: .plain).response(type)
        } catch {
            throw DecodingFailure(error, in: context)
        }
    }

    /// Ends the reader and returns its context, for ``DecodingContexts``.
    consuming func retire() -> DecodingContext { context }
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
    /// Reads a whole JSON text, whose one value is decoded next.
    func begin(
        whole text: UnsafeRawBufferPointer,
        source: DecodingExplanation.Source = .answer
    ) throws(DecodingFailure) {
        document.append(text)
        do {
            try document.readWhole()
        } catch {
            throw DecodingFailure(error, source: source)
        }
    }
}

extension JSONDocument {
    /// Reads the only value of the text.
    func readWhole() throws(JSONSyntaxError) {
        skipByteOrderMark()
        guard nextByte() != nil else { throw syntaxError(.truncated, at: count) }
        beginValue()
        _ = try readValue(isLast: true)
        guard nextByte() == nil else { throw syntaxError(.trailingBytes, at: position) }
    }

    /// Skips the three bytes that some editors and proxies put before a text. Returns `false` if too few bytes have
    /// arrived to decide.
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
