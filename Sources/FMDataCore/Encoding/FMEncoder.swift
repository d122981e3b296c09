package import Foundation

/// Writes any `Encodable` value as JSON, by FileMaker's rules if it is a record: booleans are 1 and 0, dates are texts
/// in the request's format, numbers keep all their digits, `nil` clears a field, and an array fills the repetitions
/// `name(1)`, `name(2)` … of its field.
///
///     let body = try FMEncoder().encodeFields(person)
public struct FMEncoder: Sendable {
    /// How values are written.
    public var options: EncodingOptions
    /// The content of `Encoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]
    /// The user's own `JSONEncoder` for the fields of records and portal rows.
    private var recordEncoder: JSONEncoder?

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - options: How values are written.
    ///   - userInfo: The content of `Encoder.userInfo`; empty by default.
    public init(options: EncodingOptions = EncodingOptions(), userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.options = options
        self.userInfo = userInfo
    }

    /// An encoder that uses another encoder for records, if there is one.
    package init(options: EncodingOptions, recordEncoder: JSONEncoder?) {
        self.init(options: options)
        self.recordEncoder = recordEncoder
    }

    /// Returns a value as plain JSON, in UTF-8.
    ///
    /// - Throws: ``EncodingFailure``.
    public func encode(_ value: some Encodable) throws(EncodingFailure) -> [UInt8] {
        try encode(value, .plain)
    }

    /// Returns a record as JSON in UTF-8, as it is sent in `fieldData`.
    ///
    /// - Throws: ``EncodingFailure``, for example for a value that no field can hold, such as an object.
    public func encodeFields(_ value: some Encodable) throws(EncodingFailure) -> [UInt8] {
        try encode(value, .fields)
    }

    /// Returns portals by name, each an array of rows, as JSON in UTF-8, as they are sent in `portalData`. A row's
    /// `recordId` and `modId` are written as texts, as the server requires.
    ///
    /// - Throws: ``EncodingFailure``.
    package func encodePortals(_ value: some Encodable) throws(EncodingFailure) -> [UInt8] {
        try encode(value, .portals)
    }

    private func encode(_ value: some Encodable, _ mode: EncodingMode) throws(EncodingFailure) -> [UInt8] {
        try wireValue(of: value, mode).json
    }

    /// The JSON value to send for a value, before it is written as text.
    package func wireValue(
        of value: some Encodable,
        _ mode: EncodingMode = .plain
    ) throws(EncodingFailure) -> WireValue {
        let context = EncodingContext(options: options, userInfo: userInfo, recordEncoder: recordEncoder)
        let node = EncodedNode()
        do {
            try context.encode(value, into: node, mode, [])
        } catch {
            throw EncodingFailure(error)
        }
        return try node.wireValue(mode)
    }
}

extension EncodingFailure {
    fileprivate init(_ error: any Error) {
        switch error {
        case let failure as EncodingFailure:
            self = failure
        case EncodingError.invalidValue(let value, let context):
            self.init(
                path: context.codingPath.map(\.stringValue),
                reason: "this \(type(of: value)) cannot be written",
                underlying: error
            )
        default:
            self.init(path: [], reason: "\(type(of: error)) thrown by the type itself", underlying: error)
        }
    }
}
