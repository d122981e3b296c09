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
    /// for record in try await database.layout(Meter.self).allRecords.lenient.all().collect().firstValue().prefix(1) {
    ///     switch record.result() {
    ///     case .success(let meter): print(meter.status)
    ///     case .failure(let record):
    ///         print("record", record.recordId, "field", record.failure.field ?? "")     // record 1 field Status
    ///     }
    /// }
    /// ```
    ///
    /// Without it one record that cannot be decoded fails the whole answer. ``FoundSet/lenient`` reads records this
    /// way: page by page, one record, all records, as children of a join, and in a live query.
    ///
    /// Encoding writes what was read: for a record that could not be decoded, the values that the server sent.
    public struct Lenient<R: RecordFields>: RecordFields {
        /// The coding keys of the record's type.
        public typealias CodingKeys = R.CodingKeys
        /// The record's portal rows, which may fail to decode as well.
        public typealias Portals = LenientPortals<R.Portals>

        private let reading: LenientReading<R, FieldData>

        /// Creates fields that can be decoded, for tests and doubles.
        public init(_ fields: R) { reading = .value(fields) }

        /// The fields, or why they cannot be decoded.
        public var result: Result<R, DecodingFailure> { reading.result }

        /// The values that the server sent for fields that cannot be decoded; `nil` if they can be.
        public var unreadable: FieldData? { reading.raw }

        /// The read-only fields of the record's type.
        public static var readOnlyFields: [R.CodingKeys]? { R.readOnlyFields }

        /// Reads the fields, or the server's values if they cannot be decoded.
        public init(from decoder: any Decoder) throws { reading = try LenientReading(from: decoder) }

        /// Writes the fields as they were read.
        public func encode(to encoder: any Encoder) throws { try reading.encode(to: encoder) }
    }

    /// Portal rows that may fail to decode; see ``Lenient``.
    public struct LenientPortals<P: Codable & Sendable>: Codable, Sendable {
        private let reading: LenientReading<P, [String: [FieldData]]>

        /// Creates rows that can be decoded, for tests and doubles.
        public init(_ portals: P) { reading = .value(portals) }

        /// The rows, or why they cannot be decoded.
        public var result: Result<P, DecodingFailure> { reading.result }

        /// Reads the rows, or the server's values if they cannot be decoded.
        public init(from decoder: any Decoder) throws { reading = try LenientReading(from: decoder) }

        /// Writes the rows as they were read.
        public func encode(to encoder: any Encoder) throws { try reading.encode(to: encoder) }
    }
}

extension DataAPI.Lenient: LayoutRecord where R: LayoutRecord {
    /// The layout name of the record's type.
    public static var layout: String { R.layout }
}

extension DataAPI.FoundSet {
    /// The same records, each of which may fail to decode on its own; see ``Lenient``.
    public var lenient: DataAPI.FoundSet<DataAPI.Lenient<R>> { asked(of: layout.layout.of(DataAPI.Lenient<R>.self)) }
}

extension DataAPI.Record {
    /// The record as its own type, or its id and the reason why it cannot be decoded.
    public func result<Fields: RecordFields>() -> Result<DataAPI.TypedLayout<Fields>.Record, DataAPI.UnreadableRecord>
    where R == DataAPI.Lenient<Fields>, P == DataAPI.Lenient<Fields>.Portals {
        do throws(DecodingFailure) {
            return .success(
                DataAPI.TypedLayout<Fields>.Record(
                    fieldData: try fieldData.result.get(),
                    portalData: try portalData?.result.get(),
                    recordId: recordId,
                    modId: modId,
                    portalDataInfo: portalDataInfo
                )
            )
        } catch {
            return .failure(DataAPI.UnreadableRecord(recordId: recordId, modId: modId, failure: error))
        }
    }
}

/// A decoded value, or the decoding failure with the server's raw value.
private enum LenientReading<Value: Codable & Sendable, Raw: Codable & Sendable>: Sendable {
    case value(Value)
    /// The raw value is `nil` if it cannot be read either: rows of two portals with one name.
    case unreadable(DecodingFailure, Raw?)

    init(from decoder: any Decoder) throws {
        do {
            self = .value(try Value(from: decoder))
        } catch {
            self = .unreadable(DecodingFailure(error, of: decoder), try? Raw(from: decoder))
        }
    }

    var result: Result<Value, DecodingFailure> {
        switch self {
        case .value(let value): .success(value)
        case .unreadable(let failure, _): .failure(failure)
        }
    }

    var raw: Raw? { if case .unreadable(_, let raw) = self { raw } else { nil } }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .value(let value): try value.encode(to: encoder)
        case .unreadable(_, let raw?): try raw.encode(to: encoder)
        case .unreadable(let failure, nil): throw failure
        }
    }
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
