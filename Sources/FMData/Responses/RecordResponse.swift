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
    typealias Collector = RecordAnswer<R, P>

    static var isAboutRecords: Bool { true }

    mutating func nameScripts(_ scripts: ScriptNames) { scriptResponse?.names = scripts }
}
