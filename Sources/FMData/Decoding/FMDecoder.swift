/// Decodes JSON into any `Decodable` type, much faster than `JSONDecoder` and by FileMaker's rules where you say so.
///
///     let person = try FMDecoder().decodeFields(Person.self, from: bytes)
///
/// The publishers of this library use it by themselves; this is the door for JSON from elsewhere, such as the result of a
/// script. A decoder that is kept for many texts is faster than a new one for each: it remembers what they look like. It may be
/// used by any number of threads at a time.
public struct FMDecoder: Sendable {
    /// How values are read.
    public var options: DecodingOptions {
        get { contexts.options }
        set { contexts = DecodingContexts(options: newValue, userInfo: userInfo) }
    }

    /// What `Decoder.userInfo` holds.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { contexts.userInfo }
        set { contexts = DecodingContexts(options: options, userInfo: newValue) }
    }

    /// What was learned under other options is of no use.
    private var contexts: DecodingContexts

    /// - Parameters:
    ///   - options: How values are read; FileMaker's rules hold in ``decodeFields(_:from:)`` and ``decodeAnswer(_:from:)``.
    ///   - userInfo: What types find in `Decoder.userInfo`; empty by default.
    public init(options: DecodingOptions = DecodingOptions(), userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        contexts = DecodingContexts(options: options, userInfo: userInfo)
    }

    /// Decodes plain JSON, to the same values as Foundation's `JSONDecoder`.
    ///
    /// - Throws: ``DecodingFailure`` with the place and the reason; for a text that is no JSON also its
    ///   ``DecodingFailure/byteOffset``.
    public func decode<T: Decodable>(
        _ type: T.Type,
        from json: some Collection<UInt8>
    ) throws(DecodingFailure) -> T {
        try decode(type, from: json, .plain)
    }

    /// Decodes the fields of one record, an object like `fieldData`, by FileMaker's rules.
    ///
    /// - Throws: ``DecodingFailure``.
    public func decodeFields<T: Decodable>(
        _ type: T.Type,
        from json: some Collection<UInt8>
    ) throws(DecodingFailure) -> T {
        try decode(type, from: json, .fields)
    }

    /// Decodes a whole answer with records, envelope and all, such as one that was saved to a file.
    ///
    ///     let people = try FMDecoder().decodeAnswer(DataAPI.RecordResponse<Person, EmptyPortal>.self, from: body)
    ///
    /// Beside the result this needs no more memory than one record does.
    ///
    /// - Throws: ``DecodingFailure``, also for an answer in which the server refuses the request.
    public func decodeAnswer<R: Decodable, P: Decodable>(
        _ type: DataAPI.RecordResponse<R, P>.Type,
        from body: some Collection<UInt8>
    ) throws(DecodingFailure) -> DataAPI.RecordResponse<R, P> {
        let read = { (bytes: UnsafeBufferPointer<UInt8>) in
            Result { () throws(DecodingFailure) in try answer(type, UnsafeRawBufferPointer(bytes)) }
        }
        return try (body.withContiguousStorageIfAvailable(read) ?? Array(body).withUnsafeBufferPointer(read)).get()
    }

    private func answer<R: Decodable, P: Decodable>(
        _ type: DataAPI.RecordResponse<R, P>.Type,
        _ body: UnsafeRawBufferPointer
    ) throws(DecodingFailure) -> DataAPI.RecordResponse<R, P> {
        var reader = RecordResponseReader<R, P>(context: contexts.take())
        var data: [DataAPI.Record<R, P>] = []
        var rest = body[...]
        while !rest.isEmpty {
            reader.feed(UnsafeRawBufferPointer(rebasing: rest.prefix(FMDecoder.chunk)))
            rest = rest.dropFirst(FMDecoder.chunk)
            try reader.nextRecords(appendTo: &data)
            if let count = reader.dataInfo?.returnedCount, count > data.count {
                // The server may say what it likes, but no more records can come than there is room for in the body.
                data.reserveCapacity(min(count, body.count / FMDecoder.smallestRecord))
            }
        }
        let envelope = try reader.finish()
        if let refusal = envelope.messages.first(where: { !$0.isSuccess }) {
            throw DecodingFailure(refusal: refusal)
        }
        contexts.give((consume reader).retire())
        return DataAPI.RecordResponse(data: data, dataInfo: envelope.dataInfo, scriptResponse: envelope.scriptResponse)
    }

    /// Bytes of the shortest record: `{"fieldData":{},"recordId":1,"modId":1}`.
    private static let smallestRecord = 38

    /// Bytes read at a time: few enough to stay in the cache.
    private static let chunk = 65_536

    private func decode<T: Decodable>(
        _ type: T.Type,
        from json: some Collection<UInt8>,
        _ mode: DecodingContext.Mode
    ) throws(DecodingFailure) -> T {
        let context = contexts.take()
        try read(json, into: context)
        let value: T
        do {
            value = try context.decode(type, 0, mode)
        } catch {
            throw DecodingFailure(error, in: context, source: .text, root: mode)
        }
        contexts.give(consume context)
        return value
    }

    private func read(_ json: some Collection<UInt8>, into context: DecodingContext) throws(DecodingFailure) {
        let read = { (bytes: UnsafeBufferPointer<UInt8>) in
            Result { () throws(DecodingFailure) in
                try context.begin(whole: UnsafeRawBufferPointer(bytes), source: .text)
            }
        }
        try (json.withContiguousStorageIfAvailable(read) ?? Array(json).withUnsafeBufferPointer(read)).get()
    }
}
