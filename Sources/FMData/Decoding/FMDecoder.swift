/// Decodes JSON into any `Decodable` type, much faster than `JSONDecoder`, and optionally by FileMaker's rules.
///
///     let person = try FMDecoder().decodeFields(Person.self, from: bytes)
///
/// The publishers of this library use it internally. Use it yourself for JSON from other sources, such as the result of
/// a script. One decoder for many texts is faster than a new one for each, because it remembers their structure. Any
/// number of threads may use it at the same time.
public struct FMDecoder: Sendable {
    /// How values are decoded. A change discards what was learned from earlier texts.
    public var options: DecodingOptions {
        get { contexts.options }
        set { contexts = DecodingContexts(options: newValue, userInfo: userInfo) }
    }

    /// The content of `Decoder.userInfo`. A change discards what was learned from earlier texts.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { contexts.userInfo }
        set { contexts = DecodingContexts(options: options, userInfo: newValue) }
    }

    /// Replaced when options change, because what was learned under other options is of no use.
    private(set) var contexts: DecodingContexts

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - options: How values are decoded. FileMaker's rules apply in ``decodeFields(_:from:)`` and
    ///     ``decodeAnswer(_:from:)``.
    ///   - userInfo: The content of `Decoder.userInfo`; empty by default.
    public init(options: DecodingOptions = DecodingOptions(), userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        contexts = DecodingContexts(options: options, userInfo: userInfo)
    }

    /// Decodes plain JSON, with the same result as Foundation's `JSONDecoder`.
    ///
    /// - Throws: ``DecodingFailure`` with the place and the reason; for a text that is not JSON also with
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
