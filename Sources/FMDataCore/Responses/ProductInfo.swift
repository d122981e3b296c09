extension DataAPI.Server {
    /// Information about a server.
    ///
    /// Source: Claris Data API guide, "Get product information".
    public struct ProductInfo: Hashable, Sendable, Decodable {
        /// The name of the product: "FileMaker Data API Engine".
        public var name: String
        /// The build date, in the server's form; `nil` for servers from 2024 on, which do not send it.
        public var buildDate: String?
        /// The version, such as "19.5.1.36"; `nil` for servers from 2024 on, which do not send it.
        public var version: String?
        /// The pattern of dates: "MM/dd/yyyy" on all servers seen so far.
        public var dateFormat: String
        /// The pattern of times.
        public var timeFormat: String
        /// The pattern of timestamps.
        public var timeStampFormat: String
        /// FileMaker's messages; see ``DataAPI/Message``.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        private enum CodingKeys: CodingKey {
            case name, buildDate, version, dateFormat, timeFormat, timeStampFormat
        }

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            name: String,
            buildDate: String? = nil,
            version: String? = nil,
            dateFormat: String,
            timeFormat: String,
            timeStampFormat: String
        ) {
            self.name = name
            self.buildDate = buildDate
            self.version = version
            self.dateFormat = dateFormat
            self.timeFormat = timeFormat
            self.timeStampFormat = timeStampFormat
        }
    }

    struct ProductInfoContainer: Decodable {
        var productInfo: ProductInfo

        enum CodingKeys: CodingKey {
            case productInfo
        }

        /// Servers send a wrapper object, which their own OpenAPI description omits. Both forms are accepted.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            productInfo =
                try container.decodeIfPresent(ProductInfo.self, forKey: .productInfo) ?? ProductInfo(from: decoder)
        }
    }
}

extension DataAPI.Server.ProductInfo {
    /// Returns the server's patterns as a format for reading and writing values, for ``DataAPI/DateFormats/file(_:)``.
    ///
    /// - Throws: ``ValueFormat/PatternError`` for a pattern without a complete date or time.
    public func valueFormat() throws(ValueFormat.PatternError) -> ValueFormat {
        try ValueFormat(date: dateFormat, time: timeFormat, timestamp: timeStampFormat)
    }
}

extension DataAPI.Server.ProductInfo: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror {
        mirror([
            "name": name, "buildDate": buildDate as Any, "version": version as Any, "dateFormat": dateFormat,
            "timeFormat": timeFormat, "timeStampFormat": timeStampFormat,
        ])
    }
}

extension DataAPI.Server.ProductInfoContainer: DataAPIResponse {}
