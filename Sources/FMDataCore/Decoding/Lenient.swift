extension DataAPI {
    /// A record's fields that may fail to decode, so that good records and failures come side by side.
    ///
    /// ```swift
    /// struct Meter: LayoutRecord {
    ///     static let layout = "Contacts"
    ///     var status: Int                                         // it is a text
    ///     enum CodingKeys: String, CodingKey { case status = "Status" }
    /// }
    ///
    /// for record in try await database.layout(Meter.self).lenient.all().collect().firstValue().prefix(1) {
    ///     switch record.result() {
    ///     case .success(let meter): print(meter.status)
    ///     case .failure(let record):
    ///         print("record", record.recordId, "field", record.failure.field ?? "")     // record 1 field Status
    ///     }
    /// }
    /// ```
    ///
    /// Without it one record that cannot be decoded fails the whole answer. ``RecordSource/lenient`` reads records this
    /// way: page by page, one record, all records, as children of a join, and in a live query.
    ///
    /// Encoding writes what was read: for a record that could not be decoded, the values that the server sent.
    public struct Lenient<R: RecordFields>: RecordFields {
        /// The coding keys of the record's type.
        public typealias CodingKeys = R.CodingKeys
        /// The record's portal rows, which may fail to decode as well.
        public typealias Portals = LenientPortals<R.Portals>

        // Exactly one of the two is there. Both are stored here: a generic type around them costs 4 % of decoding.
        private let fields: R?
        private let failed: Undecoded<FieldData>?

        /// Creates fields that can be decoded, for tests and doubles.
        public init(_ fields: R) { (self.fields, failed) = (fields, nil) }

        /// The fields, or why they cannot be decoded.
        public var result: Result<R, DecodingFailure> { Undecoded.result(fields, failed) }

        /// The values that the server sent for fields that cannot be decoded; `nil` if they can be. They are read each
        /// time they are asked for.
        public var unreadable: FieldData? { failed?.raw }

        /// The read-only fields of the record's type.
        public static var readOnlyFields: [R.CodingKeys]? { R.readOnlyFields }

        /// Reads the fields, or the server's values if they cannot be decoded.
        @inline(__always)
        public init(from decoder: any Decoder) throws {
            // Inlined, this knows its own type from whoever decodes it, and without `R?` it needs no other. Looking up
            // each of these types costs 2 % of decoding.
            let read: R
            do {
                read = try R(from: decoder)
            } catch {
                fields = nil
                failed = Undecoded(error, of: decoder)
                return
            }
            fields = read
            failed = nil
        }

        /// Writes the fields as they were read.
        public func encode(to encoder: any Encoder) throws { try Undecoded.encode(fields, failed, to: encoder) }
    }

    /// Portal rows that may fail to decode; see ``Lenient``.
    public struct LenientPortals<P: Codable & Sendable>: Codable, Sendable {
        // Exactly one of the two is there.
        private let portals: P?
        private let failed: Undecoded<[String: [FieldData]]>?

        /// Creates rows that can be decoded, for tests and doubles.
        public init(_ portals: P) { (self.portals, failed) = (portals, nil) }

        /// The rows, or why they cannot be decoded.
        public var result: Result<P, DecodingFailure> { Undecoded.result(portals, failed) }

        /// Reads the rows, or the server's values if they cannot be decoded.
        @inline(__always)
        public init(from decoder: any Decoder) throws {
            // As with the fields.
            let read: P
            do {
                read = try P(from: decoder)
            } catch {
                portals = nil
                failed = Undecoded(error, of: decoder)
                return
            }
            portals = read
            failed = nil
        }

        /// Writes the rows as they were read.
        public func encode(to encoder: any Encoder) throws { try Undecoded.encode(portals, failed, to: encoder) }
    }
}

extension DataAPI.Lenient: LayoutRecord where R: LayoutRecord {
    /// The layout name of the record's type.
    public static var layout: String { R.layout }
}

/// Why a value could not be decoded, and what the server sent for it.
private final class Undecoded<Raw: Codable & Sendable>: Sendable {
    let failure: DecodingFailure
    private let sent: Sent

    private enum Sent {
        /// An object's text, and the rules by which it is read. It is decoded when somebody asks for it, since few of
        /// many failures are looked at. The decoder is made for that: one that is kept would keep its memory, too.
        case text([UInt8], DecodingContext.Mode, DecodingOptions, userInfo: [CodingUserInfoKey: any Sendable])
        /// What the decoder made of any other value; `nil` if it could not.
        case value(Raw?)
    }

    init(_ error: any Error, of decoder: any Decoder) {
        failure = DecodingFailure(error, of: decoder)
        if let own = decoder as? ValueDecoder, let text = own.ownObjectText {
            sent = .text(text, own.mode, own.context.options, userInfo: own.context.userInfo)
        } else {
            sent = .value(try? Raw(from: decoder))
        }
    }

    /// `nil` if it cannot be read in any way.
    var raw: Raw? {
        switch sent {
        case .text(let text, let mode, let options, let userInfo):
            try? FMDecoder(options: options, userInfo: userInfo).decode(Raw.self, from: text, mode)
        case .value(let value): value
        }
    }

    static func result<Value>(_ value: Value?, _ failed: Undecoded?) -> Result<Value, DecodingFailure> {
        if let failed { return .failure(failed.failure) }
        guard let value else { preconditionFailure("there is a value unless there is a failure") }
        return .success(value)
    }

    static func encode<Value: Encodable>(_ value: Value?, _ failed: Undecoded?, to encoder: any Encoder) throws {
        guard let failed else { return try value.encode(to: encoder) }
        guard let raw = failed.raw else { throw failed.failure }
        try raw.encode(to: encoder)
    }
}

extension Undecoded: CustomReflectable {
    /// A dump shows the values instead of the bytes of their text.
    var customMirror: Mirror { Mirror(self, children: ["failure": failure, "raw": raw as Any], displayStyle: .class) }
}

extension DecodingFailure {
    /// Creates a failure from the error that was thrown while a decoder made the fields or portals of a record.
    fileprivate init(_ error: any Error, of decoder: any Decoder) {
        if let own = decoder as? ValueDecoder {
            self.init(error, in: own.context)
        } else if let error = error as? DecodingError {
            self.init(error)
        } else {
            self.init(
                .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "", underlyingError: error))
            )
        }
    }
}
