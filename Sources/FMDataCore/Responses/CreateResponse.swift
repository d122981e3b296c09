extension DataAPI {
    /// The response of a create or a duplicate.
    ///
    /// Source: Claris Data API guide, "Create a record" and "Duplicate a record".
    public struct CreateResponse: Hashable, Sendable {
        /// The new record's id.
        public var recordId: Int
        /// The new record's modification id: 0 unless auto-enter or a script modified the record. `nil` if the server
        /// does not send it.
        public var modId: Int?
        /// The related records created by portal rows; see ``EditRecordResponse/newPortalRecordInfo``.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo]
        /// The results of the scripts that ran with the write; `nil` if none ran.
        public var scriptResponse: ScriptResponse?
        /// FileMaker's messages; see ``DataAPI/Message``.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            recordId: Int,
            modId: Int?,
            newPortalRecordInfo: [CreatedPortalRecordInfo] = [],
            scriptResponse: ScriptResponse? = nil
        ) {
            self.recordId = recordId
            self.modId = modId
            self.newPortalRecordInfo = newPortalRecordInfo
            self.scriptResponse = scriptResponse
        }
    }

    /// The response of an edit.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    public struct EditRecordResponse: Hashable, Sendable {
        /// The id of the edited record. FileMaker does not send it; the call adds it from its request. `nil` in a value
        /// that was decoded on its own.
        public var recordId: Int?
        /// The record's new modification id.
        public var modId: Int
        /// The related records created by portal rows, each once. The server's version decides how many are reported:
        /// recent servers report all, older ones only the last of each portal. Read the record again if you need all.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo]
        /// The results of the scripts that ran with the write; `nil` if none ran.
        public var scriptResponse: ScriptResponse?
        /// FileMaker's messages; see ``DataAPI/Message``.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            recordId: Int? = nil,
            modId: Int,
            newPortalRecordInfo: [CreatedPortalRecordInfo] = [],
            scriptResponse: ScriptResponse? = nil
        ) {
            self.recordId = recordId
            self.modId = modId
            self.newPortalRecordInfo = newPortalRecordInfo
            self.scriptResponse = scriptResponse
        }
    }

    /// A related record created by a portal row.
    public struct CreatedPortalRecordInfo: Hashable, Sendable {
        /// The related table occurrence.
        public var tableName: String
        /// The related record's id.
        public var recordId: Int
        /// The related record's modification id; `nil` if the server does not send it.
        public var modId: Int?

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(tableName: String, recordId: Int, modId: Int?) {
            self.tableName = tableName
            self.recordId = recordId
            self.modId = modId
        }
    }
}

// MARK: - Decoding

extension DataAPI.CreateResponse: Decodable {
    enum CodingKeys: CodingKey {
        case recordId, modId, newPortalRecordInfo
    }

    /// Reads a server's response. Ids may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        recordId = try container.decodeWireInteger(forKey: .recordId)
        modId = try container.decodeWireIntegerIfPresent(forKey: .modId)
        newPortalRecordInfo = try container.decodeCreatedRows(forKey: .newPortalRecordInfo)
        scriptResponse = try DataAPI.ScriptResponse.ifPresent(in: decoder)
    }
}

extension DataAPI.EditRecordResponse: Decodable {
    enum CodingKeys: CodingKey {
        case modId, newPortalRecordInfo
    }

    /// Reads a server's response. Ids may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        modId = try container.decodeWireInteger(forKey: .modId)
        newPortalRecordInfo = try container.decodeCreatedRows(forKey: .newPortalRecordInfo)
        scriptResponse = try DataAPI.ScriptResponse.ifPresent(in: decoder)
    }
}

extension DataAPI.CreatedPortalRecordInfo: Decodable {
    enum CodingKeys: CodingKey {
        case tableName, recordId, modId
    }

    /// Reads an entry of a server's response. Ids may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tableName = try container.decode(String.self, forKey: .tableName)
        recordId = try container.decodeWireInteger(forKey: .recordId)
        modId = try container.decodeWireIntegerIfPresent(forKey: .modId)
    }
}

extension KeyedDecodingContainer {
    /// The created rows, each once, because recent servers send a row once for every field written in it. In one
    /// recorded answer an empty object stands for no rows.
    fileprivate func decodeCreatedRows(forKey key: Key) throws -> [DataAPI.CreatedPortalRecordInfo] {
        guard contains(key), try !decodeNil(forKey: key) else { return [] }
        if (try? nestedUnkeyedContainer(forKey: key)) == nil {
            return try decode([String: DataAPI.CreatedPortalRecordInfo].self, forKey: key).values.map { $0 }
        }
        var seen: Set<DataAPI.CreatedPortalRecordInfo> = []
        return try decode([DataAPI.CreatedPortalRecordInfo].self, forKey: key).filter { seen.insert($0).inserted }
    }
}

extension DataAPI.CreateResponse: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror {
        mirror([
            "recordId": recordId, "modId": modId as Any, "newPortalRecordInfo": newPortalRecordInfo,
            "scriptResponse": scriptResponse as Any,
        ])
    }
}

extension DataAPI.CreateResponse: DataAPIResponse {
    package static var isAboutRecords: Bool { true }

    package mutating func nameScripts(_ scripts: ScriptNames) { scriptResponse?.names = scripts }
}

extension DataAPI.EditRecordResponse: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror {
        mirror([
            "recordId": recordId as Any, "modId": modId, "newPortalRecordInfo": newPortalRecordInfo,
            "scriptResponse": scriptResponse as Any,
        ])
    }
}

extension DataAPI.EditRecordResponse: DataAPIResponse {
    package static var isAboutRecords: Bool { true }

    package mutating func nameScripts(_ scripts: ScriptNames) { scriptResponse?.names = scripts }
}
