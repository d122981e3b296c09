extension DataAPI {
    /// The answer of every call that returns records: `getRecords`, `getRecordById`, `findRecords`.
    ///
    /// `R` is the type of a record's fields, `P` the type of its portals: a struct with one array per portal, or
    /// ``EmptyPortal`` when the portals do not matter. Fix both with `returnAs(_:)` or let the compiler infer them.
    ///
    /// Source: Claris Data API guide, "Get a range of records" and "Perform a find request".
    public struct RecordResponse<R, P> {
        /// One element of ``data``.
        public typealias Record = DataAPI.Record<R, P>

        /// The records, in the order the server sent them.
        public var data: [Record]
        /// Where the records come from and how many there are.
        public var dataInfo: DataInfo
        /// The results of the scripts that ran with the request; `nil` when none ran.
        public var scriptResponse: ScriptResponse?
        /// FileMaker's messages: code `"0"`, or `"401"` on the empty response of a find without matches.
        public var messages: [Message]

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

    /// One record: its fields, the rows of its portals, its identity and its version.
    ///
    /// ```swift
    /// let ada = try await people.find { $0(.name) == "Ada Lovelace" }.one().firstValue()
    /// print(ada.city ?? "")                                       // London
    /// ```
    ///
    /// The properties of its fields' type can be read as its own.
    @dynamicMemberLookup
    public struct Record<R, P> {
        /// The fields on the layout.
        public var fieldData: R
        /// The rows of the layout's portals; `nil` when the server sent none at all.
        public var portalData: P?
        /// FileMaker's internal id of the record: unique in its table, never used again, different in every copy of
        /// the file. An answer without it does not decode, so that no other record's id can be sent back in its place.
        public var recordId: Int
        /// The modification id: rises by one with every committed change. Send it back with an edit to have the server
        /// refuse (code 306) when somebody else was faster. An answer without it does not decode.
        public var modId: Int
        /// How many rows each portal has. Absent before FileMaker Server 18.
        public var portalDataInfo: [PortalDataInfo]?

        /// A property of the fields' type.
        public subscript<Value>(dynamicMember property: KeyPath<R, Value>) -> Value { fieldData[keyPath: property] }

        /// The names of the portals that have more rows than this response: a server sends 50 of each unless the request
        /// says otherwise. Ask for more by ``PortalRequest/limit``. Empty before FileMaker Server 18, which does not say.
        public var truncatedPortals: [String] {
            (portalDataInfo ?? []).filter(\.isTruncated).map(\.name)
        }

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

    /// The portal type of a response whose portals do not matter. Whatever portals the server sends are skipped.
    public struct EmptyPortal: Codable, Hashable, Sendable {
        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init() {}
    }
}

extension DataAPI.RecordResponse {
    /// The portal type of a response whose portals do not matter.
    public typealias EmptyPortal = DataAPI.EmptyPortal
    /// Where the records of a response come from.
    public typealias DataInfo = DataAPI.DataInfo
    /// How many rows a portal has.
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

/// A row of a portal: a related record, with its own identity and version.
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
/// Each of the two ids may be declared as `Int` or as `String`, whichever the program likes: the server sends both as text, and
/// they decode from text or number. FileMaker Server 17 sends rows without `modId`: declare it optional, `Int?` or `String?`,
/// if such a server matters.
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
