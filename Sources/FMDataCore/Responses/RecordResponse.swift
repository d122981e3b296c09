extension DataAPI {
    /// The response of every call that returns records: `getRecords`, `record(id:)`, `findRecords`.
    ///
    /// `R` is the type of a record's fields, `P` the type of its portals: a struct with one array per portal, or
    /// ``EmptyPortal`` if the portals are not needed. Set both with `returnAs(_:)` or let the compiler infer them.
    ///
    /// Source: Claris Data API guide, "Get a range of records" and "Perform a find request".
    public struct RecordResponse<R, P> {
        /// The type of the elements of ``data``.
        public typealias Record = DataAPI.Record<R, P>

        /// The records, in the order in which the server sent them.
        public var data: [Record]
        /// The source of the records, and their numbers.
        public var dataInfo: DataInfo
        /// The results of the scripts that ran with the request; `nil` if none ran.
        public var scriptResponse: ScriptResponse?
        /// FileMaker's messages: code `"0"`, or `"401"` in the empty response of a find without matches.
        public var messages: [Message]

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            data: [Record],
            dataInfo: DataInfo,
            scriptResponse: ScriptResponse? = nil,
            messages: [Message] = []
        ) {
            self.data = data
            self.dataInfo = dataInfo
            self.scriptResponse = scriptResponse
            self.messages = messages
        }
    }

    /// One record: its fields, the rows of its portals, its id and its modification id.
    ///
    /// ```swift
    /// let ada = try await people.find { $0(.name) == "Ada Lovelace" }.one().firstValue()
    /// print(ada.city ?? "")                                       // London
    /// ```
    ///
    /// The properties of the fields' type can be read directly on the record.
    @dynamicMemberLookup
    public struct Record<R, P> {
        /// The fields on the layout.
        public var fieldData: R
        /// The rows of the layout's portals; `nil` if the server sent none at all.
        public var portalData: P?
        /// FileMaker's internal id of the record. It is unique in its table, never reused, and different in every copy
        /// of the file. An answer without it does not decode, so that a later request cannot use the id of another
        /// record.
        public var recordId: Int
        /// The modification id: it rises by one with every committed change. If an edit sends it, the server refuses
        /// the edit (code 306) if another user has changed the record in the meantime. An answer without it does not
        /// decode.
        public var modId: Int
        /// The number of rows in each portal. `nil` before FileMaker Server 18.
        public var portalDataInfo: [PortalDataInfo]?

        /// Returns a property of the fields' type.
        public subscript<Value>(dynamicMember property: KeyPath<R, Value>) -> Value { fieldData[keyPath: property] }

        /// The names of the portals that have more rows than this response. A server sends 50 rows of each portal by
        /// default; request more with ``PortalRequest/limit``. Empty before FileMaker Server 18, which does not send
        /// these numbers.
        public var truncatedPortals: [String] {
            (portalDataInfo ?? []).filter(\.isTruncated).map(\.name)
        }

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            fieldData: R,
            portalData: P? = nil,
            recordId: Int,
            modId: Int,
            portalDataInfo: [PortalDataInfo]? = nil
        ) {
            self.fieldData = fieldData
            self.portalData = portalData
            self.recordId = recordId
            self.modId = modId
            self.portalDataInfo = portalDataInfo
        }
    }
}

extension DataAPI.RecordResponse {
    /// The portal type of a response whose portals are not needed.
    public typealias EmptyPortal = DataAPI.EmptyPortal
    /// The source of a response's records, and their numbers.
    public typealias DataInfo = DataAPI.DataInfo
    /// The number of rows in a portal.
    public typealias PortalDataInfo = DataAPI.PortalDataInfo
}

extension DataAPI.RecordResponse: Sendable where R: Sendable, P: Sendable {}
extension DataAPI.RecordResponse: Equatable where R: Equatable, P: Equatable {}
extension DataAPI.Record: Sendable where R: Sendable, P: Sendable {}
extension DataAPI.Record: Equatable where R: Equatable, P: Equatable {}

extension DataAPI.Record: Identifiable {
    /// The record id, for `Identifiable`.
    public var id: Int { recordId }
}

/// A row of a portal: a related record, with its own id and modification id.
///
/// ```swift
/// struct Line: DataAPIPortalRecord {
///     var recordId: Int
///     var modId: Int
///     var article: String
///
///     enum CodingKeys: String, CodingKey {
///         case recordId, modId, article = "Lines::Article"
///     }
/// }
/// ```
///
/// Each of the two ids may be declared as `Int` or as `String`. The server sends both as text, and they decode from
/// text or number. FileMaker Server 17 sends rows without `modId`: to support it, declare the property as optional,
/// `Int?` or `String?`.
public protocol DataAPIPortalRecord: Decodable {
    /// `Int`, `String` or an optional of one of them; inferred from the property.
    associatedtype RecordID: DataAPI.RecordIdentifier
    /// `Int`, `String` or an optional of one of them; inferred from the property.
    associatedtype ModID: DataAPI.RecordIdentifier

    /// FileMaker's internal id of the related record.
    var recordId: RecordID { get }
    /// The related record's modification id.
    var modId: ModID { get }
}

extension DataAPI.RecordResponse: DataAPIResponse where R: Decodable, P: Decodable {
    package typealias Collector = RecordAnswer<R, P>

    package static var isAboutRecords: Bool { true }

    package var rowCount: Int? { data.count }

    package mutating func nameScripts(_ scripts: ScriptNames) { scriptResponse?.names = scripts }
}

extension DataAPI.RecordResponse: Decodable where R: Decodable, P: Decodable {
    private enum CodingKeys: CodingKey {
        case data, dataInfo
    }

    /// Decodes the `response` object of an answer, with FMData's decoder or any other.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let data = try container.decode([Record].self, forKey: .data)
        self.init(
            data: data,
            dataInfo: try container.decodeIfPresent(DataAPI.DataInfo.self, forKey: .dataInfo)
                ?? .unreported(count: data.count),
            scriptResponse: try DataAPI.ScriptResponse.ifPresent(in: decoder)
        )
    }
}

extension DataAPI.Record: Decodable where R: Decodable, P: Decodable {
    private enum CodingKeys: CodingKey {
        case fieldData, portalData, recordId, modId, portalDataInfo
    }

    /// Reads a record as servers send it. Ids may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            fieldData: try container.decode(AsFields<R>.self, forKey: .fieldData).value,
            portalData: try container.decodeIfPresent(AsPortals<P>.self, forKey: .portalData)?.value,
            recordId: try container.decodeWireInteger(forKey: .recordId),
            modId: try container.decodeWireInteger(forKey: .modId),
            portalDataInfo: try container.decodeIfPresent([DataAPI.PortalDataInfo].self, forKey: .portalDataInfo)
        )
    }
}

extension DataAPI {
    /// A version of a record.
    public struct RecordVersion: Hashable, Sendable {
        /// FileMaker's internal id of the record.
        public var recordId: Int
        /// The modification id, which rises with each commit of the record.
        public var modId: Int

        /// Creates a version of a record.
        public init(recordId: Int, modId: Int) {
            self.recordId = recordId
            self.modId = modId
        }
    }
}

extension DataAPI.Record {
    /// The record's id and modId.
    package var version: DataAPI.RecordVersion { DataAPI.RecordVersion(recordId: recordId, modId: modId) }
}

extension DataAPI.UnreadableRecord {
    /// The record's id and modId.
    package var version: DataAPI.RecordVersion { DataAPI.RecordVersion(recordId: recordId, modId: modId) }
}

extension DataAPI {
    /// A record that the host sent but that cannot be decoded, with its ids and the reason.
    ///
    ///     for record in value.unreadable { print(record.recordId, record.failure) }
    public struct UnreadableRecord: Error, Identifiable, Sendable, CustomStringConvertible {
        /// FileMaker's internal id of the record.
        public var recordId: Int
        /// The modification id of the version that cannot be decoded.
        public var modId: Int
        /// The field, what was expected and what was found; ``DecodingFailure/rawValue`` is the text at that place.
        public var failure: DecodingFailure

        /// The record id, for `Identifiable`.
        public var id: Int { recordId }

        /// The reason without the field's value, so that it may go to a log.
        public var description: String { failure.description }

        /// Creates a value for tests and test doubles.
        public init(recordId: Int, modId: Int, failure: DecodingFailure) {
            self.recordId = recordId
            self.modId = modId
            self.failure = failure
        }
    }
}

/// A record of an answer, decoded if possible.
package enum RecordAttempt<R, P> {
    case record(DataAPI.Record<R, P>)
    // Boxed, as it is rare and four times as large as a record: a poll holds one attempt for each record.
    indirect case unreadable(DataAPI.UnreadableRecord)

    package var version: DataAPI.RecordVersion {
        switch self {
        case .record(let record): record.version
        case .unreadable(let record): record.version
        }
    }

    package var recordId: Int { version.recordId }
    package var record: DataAPI.Record<R, P>? { if case .record(let record) = self { record } else { nil } }
    package var unreadable: DataAPI.UnreadableRecord? { if case .unreadable(let record) = self { record } else { nil } }
}

extension RecordAttempt: Sendable where R: Sendable, P: Sendable {}
