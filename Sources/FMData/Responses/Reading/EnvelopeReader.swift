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
