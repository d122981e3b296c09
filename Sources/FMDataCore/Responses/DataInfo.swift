extension DataAPI {
    /// The source of a response's records, and their numbers.
    public struct DataInfo: Hashable, Sendable {
        /// The name of the file.
        public var database: String
        /// The name of the layout that determined the fields of the answer.
        public var layout: String
        /// The name of the layout's table occurrence.
        public var table: String
        /// The number of records in the table.
        public var totalRecordCount: Int
        /// The number of records in the found set, before offset and limit.
        public var foundCount: Int
        /// The number of records in this response.
        public var returnedCount: Int
        /// `false` if the server sent no such data, like FileMaker Server 17. Then the names are empty, and each count
        /// is the number of records in the response.
        public var isReported: Bool

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            database: String,
            layout: String,
            table: String,
            totalRecordCount: Int,
            foundCount: Int,
            returnedCount: Int,
            isReported: Bool = true
        ) {
            self.database = database
            self.layout = layout
            self.table = table
            self.totalRecordCount = totalRecordCount
            self.foundCount = foundCount
            self.returnedCount = returnedCount
            self.isReported = isReported
        }

        /// The replacement for servers that send only the records.
        static func unreported(count: Int) -> DataInfo {
            DataInfo(
                database: "",
                layout: "",
                table: "",
                totalRecordCount: count,
                foundCount: count,
                returnedCount: count,
                isReported: false
            )
        }
    }

    /// The number of rows in one portal of one record.
    public struct PortalDataInfo: Hashable, Sendable {
        /// The portal's object name; `nil` if it has none. With an object name, it is also the portal's key in
        /// `portalData`.
        public var portalObjectName: String?
        /// The name of the file with the related table.
        public var database: String
        /// The name of the related table occurrence.
        public var table: String
        /// The number of related records.
        public var foundCount: Int
        /// The number of rows in this response. With an offset past the end some servers send 1 with an empty array, so
        /// count the rows of the array instead.
        public var returnedCount: Int

        /// The portal's name, as in `portalData` and ``PortalRequest/name``: its object name if it has one, otherwise
        /// its table.
        public var name: String { portalObjectName ?? table }
        /// Whether the record has related records that are not in this response: more than the portal's limit, which is
        /// 50 by default, or some before its offset.
        public var isTruncated: Bool { returnedCount < foundCount }

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            portalObjectName: String? = nil,
            database: String,
            table: String,
            foundCount: Int,
            returnedCount: Int
        ) {
            self.portalObjectName = portalObjectName
            self.database = database
            self.table = table
            self.foundCount = foundCount
            self.returnedCount = returnedCount
        }
    }
}

extension DataAPI.DataInfo: Decodable {
    enum CodingKeys: CodingKey {
        case database, layout, table, totalRecordCount, foundCount, returnedCount
    }

    /// Reads a server's response. Counts may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            database: try container.decodeIfPresent(String.self, forKey: .database) ?? "",
            layout: try container.decodeIfPresent(String.self, forKey: .layout) ?? "",
            table: try container.decodeIfPresent(String.self, forKey: .table) ?? "",
            totalRecordCount: try container.decodeWireInteger(forKey: .totalRecordCount),
            foundCount: try container.decodeWireInteger(forKey: .foundCount),
            returnedCount: try container.decodeWireInteger(forKey: .returnedCount)
        )
    }
}

extension DataAPI.PortalDataInfo: Decodable {
    enum CodingKeys: CodingKey {
        case portalObjectName, database, table, foundCount, returnedCount
    }

    /// Reads a server's response. Counts may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            portalObjectName: try container.decodeIfPresent(String.self, forKey: .portalObjectName),
            database: try container.decodeIfPresent(String.self, forKey: .database) ?? "",
            table: try container.decodeIfPresent(String.self, forKey: .table) ?? "",
            foundCount: try container.decodeWireInteger(forKey: .foundCount),
            returnedCount: try container.decodeWireInteger(forKey: .returnedCount)
        )
    }
}
