/// Decodes JSON into any `Decodable` type, much faster than `JSONDecoder` and by FileMaker's rules where you say so.
///
///     let person = try FMDecoder().decodeFields(Person.self, from: bytes)
///
/// The publishers of this library use it by themselves; this is the door for JSON from elsewhere, such as the result of a
/// script.
public struct FMDecoder: Sendable {
    public var options: DecodingOptions
    /// What `Decoder.userInfo` holds.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(options: DecodingOptions = DecodingOptions(), userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.options = options
        self.userInfo = userInfo
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

    private func decode<T: Decodable>(
        _ type: T.Type,
        from json: some Collection<UInt8>,
        _ mode: DecodingContext.Mode
    ) throws(DecodingFailure) -> T {
        let context = try context(json)
        do {
            return try context.decode(type, 0, mode)
        } catch {
            throw DecodingFailure(error, in: context)
        }
    }

    private func context(_ json: some Collection<UInt8>) throws(DecodingFailure) -> DecodingContext {
        let read = { (bytes: UnsafeBufferPointer<UInt8>) in
            Result { () throws(DecodingFailure) in
                try DecodingContext.whole(UnsafeRawBufferPointer(bytes), options, userInfo)
            }
        }
        return try (json.withContiguousStorageIfAvailable(read) ?? Array(json).withUnsafeBufferPointer(read)).get()
    }
}
