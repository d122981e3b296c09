import Foundation

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

    /// Decodes a value by the rules of a part of an answer.
    func decode<T: Decodable>(
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

/// Keeps the decoding contexts of one server or decoder between answers.
///
/// A context remembers the keys that it has decoded and where its types found them, and its memory has the right size.
/// Answers of one record gain most: learning all that anew takes as long as decoding them.
final class DecodingContexts: Sendable {
    /// The number of contexts worth keeping, and the largest memory worth keeping, in bytes.
    private static let maximumCount = 16
    private static let maximumCapacity = 256 * 1024

    let options: DecodingOptions
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let recordDecoder: JSONDecoder?
    /// A context that is given back has no other reference, and a context that is taken has one owner.
    private let spares = Guarded<[DecodingContext]>([])

    /// - Parameter recordDecoder: the user's own decoder for records.
    init(
        options: DecodingOptions,
        userInfo: [CodingUserInfoKey: any Sendable] = [:],
        recordDecoder: JSONDecoder? = nil
    ) {
        self.options = options
        self.userInfo = userInfo
        self.recordDecoder = recordDecoder
    }

    /// The number of unused contexts, for tests.
    var spareCount: Int { spares.withLock { $0.count } }

    func take() -> DecodingContext {
        spares.withLock { $0.popLast() }
            ?? DecodingContext(options: options, userInfo: userInfo, recordDecoder: recordDecoder)
    }

    /// Keeps a context after a whole answer, unless a decoder or container still refers to it.
    func give(_ context: consuming DecodingContext) {
        var context = context
        guard isKnownUniquelyReferenced(&context), context.document.capacity <= Self.maximumCapacity else { return }
        context.end()
        context.restart()
        // A context that is not kept is destroyed outside of the lock.
        spares.withLock { spares in
            if spares.count < Self.maximumCount { spares.append(context) }
        }
    }
}

/// A value whose members are fields of a record. Within an answer or request that is plain JSON otherwise, FMData's own
/// coders apply FileMaker's rules to its content. It has no effect on other coders.
package struct AsFields<Value> {
    var value: Value

    package init(value: Value) {
        self.value = value
    }
}

/// A value whose members are portals: arrays of rows.
struct AsPortals<Value> {
    var value: Value
}

extension AsFields: Decodable where Value: Decodable {
    package init(from decoder: any Decoder) throws {
        value = try decoder.decode(as: .fields)
    }
}

extension AsPortals: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        value = try decoder.decode(as: .portals)
    }
}

extension Decoder {
    fileprivate func decode<Value: Decodable>(as mode: DecodingContext.Mode) throws -> Value {
        guard let own = self as? ValueDecoder else { return try Value(from: self) }
        return try own.context.decode(Value.self, own.node, mode)
    }
}
