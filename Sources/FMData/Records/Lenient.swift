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
        public init(_ fields: R) { reading = LenientReading(fields) }

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
        public init(_ portals: P) { reading = LenientReading(portals) }

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

/// A value as it was read, or why it could not be and what the server sent.
private struct LenientReading<Value: Codable & Sendable, Raw: Codable & Sendable>: Sendable {
    private let value: Value?
    /// `nil` for a value. It is an object, so that a value that can be read takes no more room than without it.
    private let unreadable: Unreadable?

    private final class Unreadable: Sendable {
        let failure: DecodingFailure
        /// `nil` if not even that can be told: rows of two portals of one name.
        let raw: Raw?

        init(_ failure: DecodingFailure, _ raw: Raw?) {
            self.failure = failure
            self.raw = raw
        }
    }

    init(_ value: Value) {
        self.value = value
        unreadable = nil
    }

    init(from decoder: any Decoder) throws {
        do {
            value = try Value(from: decoder)
            unreadable = nil
        } catch {
            value = nil
            unreadable = Unreadable(DecodingFailure(error, of: decoder), try? Raw(from: decoder))
        }
    }

    var result: Result<Value, DecodingFailure> {
        if let unreadable { return .failure(unreadable.failure) }
        guard let value else { preconditionFailure("there is a value where there is no failure") }
        return .success(value)
    }

    var raw: Raw? { unreadable?.raw }

    func encode(to encoder: any Encoder) throws {
        guard let unreadable else { return try value.encode(to: encoder) }
        guard let raw = unreadable.raw else { throw unreadable.failure }
        try raw.encode(to: encoder)
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
