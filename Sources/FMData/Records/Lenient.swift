extension DataAPI {
    /// The fields of a record that need not be what its type says: good records and failures side by side.
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
    ///     case .failure(let record): print("record", record.recordId, "field", record.failure.field ?? "")     // record 1 field Status
    ///     }
    /// }
    /// ```
    ///
    /// Without it one record that cannot be decoded is the failure of the whole answer. ``FoundSet/lenient`` reads records so: page by
    /// page, one, all, as children of a join, in a live query.
    ///
    /// It is written as it was read: a record that could not be decoded with the values that came.
    public struct Lenient<R: RecordFields>: RecordFields {
        /// The names of the fields are those of the record's type.
        public typealias CodingKeys = R.CodingKeys
        /// The rows of its portals, which need not be what their type says either.
        public typealias Portals = LenientPortals<R.Portals>

        private let reading: LenientReading<R, FieldData>

        /// The fields of a record that can be decoded, for tests and doubles.
        public init(_ fields: R) { reading = .value(fields) }

        /// The fields, or why they cannot be decoded.
        public var result: Result<R, DecodingFailure> { reading.result }

        /// What the server sent in place of fields that cannot be decoded; `nil` where they can.
        public var unreadable: FieldData? { reading.raw }

        /// Those of the record's type.
        public static var readOnlyFields: [R.CodingKeys]? { R.readOnlyFields }

        /// Reads the fields, or what came in their place.
        public init(from decoder: any Decoder) throws { reading = try LenientReading(from: decoder) }

        /// Writes the fields as they were read.
        public func encode(to encoder: any Encoder) throws { try reading.encode(to: encoder) }
    }

    /// The rows of portals that need not be what their type says; see ``Lenient``.
    public struct LenientPortals<P: Codable & Sendable>: Codable, Sendable {
        private let reading: LenientReading<P, [String: [FieldData]]>

        /// Rows that can be decoded, for tests and doubles.
        public init(_ portals: P) { reading = .value(portals) }

        /// The rows, or why they cannot be decoded.
        public var result: Result<P, DecodingFailure> { reading.result }

        /// Reads the rows, or what came in their place.
        public init(from decoder: any Decoder) throws { reading = try LenientReading(from: decoder) }

        /// Writes the rows as they were read.
        public func encode(to encoder: any Encoder) throws { try reading.encode(to: encoder) }
    }
}

extension DataAPI.Lenient: LayoutRecord where R: LayoutRecord {
    /// That of the record's type.
    public static var layout: String { R.layout }
}

extension DataAPI.FoundSet {
    /// The same records, of which each may fail to be decoded by itself; see ``Lenient``.
    public var lenient: DataAPI.FoundSet<DataAPI.Lenient<R>> { asked(of: layout.layout.of(DataAPI.Lenient<R>.self)) }
}

extension DataAPI.Record {
    /// The record as its own type, or which it is and why it cannot be that.
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

/// A value as it was read, or why it could not be and what stood there.
private enum LenientReading<Value: Codable & Sendable, Raw: Codable & Sendable>: Sendable {
    case value(Value)
    /// Without what stood there, where even that cannot be told: rows of two portals of one name.
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
    /// What was thrown while a decoder made the fields or the portals of a record.
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
