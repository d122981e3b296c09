extension DataAPI {
    /// What a create or a duplicate made.
    ///
    /// Source: Claris Data API guide, "Create a record" and "Duplicate a record".
    public struct CreateResponse: Hashable, Sendable {
        /// The new record's id.
        public var recordId: Int
        /// The new record's modification id: 0 unless auto-enter or a script touched it again. Some servers leave it out.
        public var modId: Int?
        /// The related records that portal rows made; see ``EditRecordResponse/newPortalRecordInfo``.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo]
        /// The results of the scripts that ran with the write; `nil` when none ran.
        public var scriptResponse: ScriptResponse?
        /// FileMaker's messages; see ``MessageCarrying``.
        @DataAPI.Aside public var messages: [DataAPI.Message] = []

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

    /// What an edit did.
    ///
    /// Source: Claris Data API guide, "Edit a record".
    public struct EditRecordResponse: Hashable, Sendable {
        /// The record that was edited. FileMaker does not say it; it is what the call was made with, and `nil` in a value that
        /// was decoded by itself.
        public var recordId: Int?
        /// The record's new modification id.
        public var modId: Int
        /// The related records that portal rows made, each once. How many a server names depends on its version: all of
        /// them on recent ones, only the last of each portal on older ones. Read the record again where it matters.
        public var newPortalRecordInfo: [CreatedPortalRecordInfo]
        /// The results of the scripts that ran with the write; `nil` when none ran.
        public var scriptResponse: ScriptResponse?
        /// FileMaker's messages; see ``MessageCarrying``.
        @DataAPI.Aside public var messages: [DataAPI.Message] = []

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

    /// A related record that a portal row made.
    public struct CreatedPortalRecordInfo: Hashable, Sendable {
        /// The related table occurrence.
        public var tableName: String
        /// The related record's id.
        public var recordId: Int
        /// The related record's modification id, where the server says it.
        public var modId: Int?

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(tableName: String, recordId: Int, modId: Int?) {
            self.tableName = tableName
            self.recordId = recordId
            self.modId = modId
        }
    }
}

extension DataAPI.EditRecordResponse {
    /// A related record that a portal row made.
    public typealias CreatedPortalRecordInfo = DataAPI.CreatedPortalRecordInfo
}

// MARK: - Decoding

extension DataAPI.CreateResponse: Decodable {
    enum CodingKeys: CodingKey {
        case recordId, modId, newPortalRecordInfo
    }

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
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

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
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

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tableName = try container.decode(String.self, forKey: .tableName)
        recordId = try container.decodeWireInteger(forKey: .recordId)
        modId = try container.decodeWireIntegerIfPresent(forKey: .modId)
    }
}

extension KeyedDecodingContainer {
    /// The rows that were made, each once: recent servers name a row once for every field written in it. An empty object
    /// stands for none in one recorded answer.
    fileprivate func decodeCreatedRows(forKey key: Key) throws -> [DataAPI.CreatedPortalRecordInfo] {
        guard contains(key), try !decodeNil(forKey: key) else { return [] }
        if (try? nestedUnkeyedContainer(forKey: key)) == nil {
            return try decode([String: DataAPI.CreatedPortalRecordInfo].self, forKey: key).values.map { $0 }
        }
        var seen: Set<DataAPI.CreatedPortalRecordInfo> = []
        return try decode([DataAPI.CreatedPortalRecordInfo].self, forKey: key).filter { seen.insert($0).inserted }
    }
}

extension DataAPI.CreateResponse: DataAPIResponse {
    static var isAboutRecords: Bool { true }

    mutating func nameScripts(_ scripts: ScriptNames) { scriptResponse?.names = scripts }
}

extension DataAPI.EditRecordResponse: DataAPIResponse {
    static var isAboutRecords: Bool { true }

    mutating func nameScripts(_ scripts: ScriptNames) { scriptResponse?.names = scripts }
}
