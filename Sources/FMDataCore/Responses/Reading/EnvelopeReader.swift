import NIOCore

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

// Messages and `dataInfo` are read straight from the tape, without containers, if they have the form that servers send.
// In an answer of one record, `Decodable` would spend a quarter of its time on them. Any other form is left to
// `Decodable`.

extension DataAPI.Message {
    /// The messages on the tape of a context, with the same result as `init(from:)`.
    static func list(readFrom context: DecodingContext) throws -> [Message] {
        let tape = context.view
        var messages: [Message] = []
        guard tape[0].kind == .array else { return try context.decode([Message].self, 0, .plain) }
        var index: UInt32 = 1
        while index < tape[0].link {
            guard let code = tape.text("code", of: index), let message = tape.text("message", of: index) else {
                return try context.decode([Message].self, 0, .plain)
            }
            messages.append(Message(code: code, message: message))
            index = tape.end(of: index)
        }
        return messages
    }
}

extension DataAPI.DataInfo {
    /// The object on the tape of a context, with the same result as `init(from:)`.
    static func value(readFrom context: DecodingContext) throws -> DataAPI.DataInfo {
        let tape = context.view
        guard let database = tape.text("database", of: 0), let layout = tape.text("layout", of: 0),
            let table = tape.text("table", of: 0), let totalRecordCount = tape.count("totalRecordCount", of: 0),
            let foundCount = tape.count("foundCount", of: 0), let returnedCount = tape.count("returnedCount", of: 0)
        else { return try context.decode(DataAPI.DataInfo.self, 0, .plain) }
        return DataAPI.DataInfo(
            database: database,
            layout: layout,
            table: table,
            totalRecordCount: totalRecordCount,
            foundCount: foundCount,
            returnedCount: returnedCount
        )
    }
}

extension TapeView {
    /// A member that is a string; `nil` if it is anything else.
    fileprivate func text(_ name: StaticString, of object: UInt32) -> String? {
        guard let member = member(name, of: object), member.kind == .string else { return nil }
        return string(member)
    }

    /// A member that is a small number without a fraction; `nil` if it is anything else.
    fileprivate func count(_ name: StaticString, of object: UInt32) -> Int? {
        member(name, of: object)?.smallInteger.map(Int.init)
    }

    /// The only member of this name; `nil` if there is none, if `object` is no object, or if its keys may repeat.
    private func member(_ name: StaticString, of object: UInt32) -> JSONTape.Entry? {
        let head = self[object]
        guard head.kind == .object, !head.flags.contains(.irregular) else { return nil }
        var index = object + 1
        while index < head.link {
            if isEqual(self[index], name) { return self[index + 1] }
            index = end(of: index + 1)
        }
        return nil
    }
}

// The readers work on raw memory. These two methods are their only connection to NIO.

extension RecordResponseReader {
    /// Appends more of the body without reading it.
    mutating func feed(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { feed($0) }
    }
}

extension EnvelopeReader {
    /// Takes the whole body and decodes its messages.
    func messages(of body: ByteBuffer) throws(DecodingFailure) -> [Message] {
        try body.withUnsafeReadableBytes { bytes in
            Result { () throws(DecodingFailure) in try messages(of: bytes) }
        }.get()
    }
}
