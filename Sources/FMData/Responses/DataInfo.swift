extension DataAPI {
    /// Where the records of a response come from and how many there are.
    public struct DataInfo: Hashable, Sendable {
        /// The file.
        public var database: String
        /// The layout that shaped the answer.
        public var layout: String
        /// The layout's table occurrence.
        public var table: String
        /// Records in the table.
        public var totalRecordCount: Int
        /// Records in the found set, before offset and limit.
        public var foundCount: Int
        /// Records in this response.
        public var returnedCount: Int
        /// `false` when the server said nothing of all this, as FileMaker Server 17 does: the names are then empty and
        /// each count is the number of records that came.
        public var isReported: Bool

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

        /// The stand-in for a server that reports nothing but the records themselves.
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

    /// How many rows one portal of one record has.
    public struct PortalDataInfo: Hashable, Sendable {
        /// The portal's object name, when it has one; its key in `portalData` is then this name.
        public var portalObjectName: String?
        /// The file that holds the related table.
        public var database: String
        /// The related table occurrence.
        public var table: String
        /// Related records.
        public var foundCount: Int
        /// Rows in this response. With an offset past the end some servers say 1 beside an empty array: count the
        /// array.
        public var returnedCount: Int

        /// The portal's name, as in `portalData` and ``PortalRequest/name``: its object name, if it has one, else its table.
        public var name: String { portalObjectName ?? table }
        /// Whether the record has related records that are not in this response: more than the portal's limit, which is 50
        /// when the request says nothing, or some before its offset.
        public var isTruncated: Bool { returnedCount < foundCount }

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
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

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
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
