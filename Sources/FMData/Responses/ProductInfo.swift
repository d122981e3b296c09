extension DataAPI.Server {
    /// What a server says of itself.
    ///
    /// Source: Claris Data API guide, "Get product information".
    public struct ProductInfo: Hashable, Sendable, Decodable {
        /// "FileMaker Data API Engine".
        public var name: String
        /// The build date, as the server writes it. Servers from 2024 on do not say.
        public var buildDate: String?
        /// The version, such as "19.5.1.36". Servers from 2024 on do not say.
        public var version: String?
        /// The pattern of dates, "MM/dd/yyyy" on every server seen.
        public var dateFormat: String
        /// The pattern of times.
        public var timeFormat: String
        /// The pattern of timestamps.
        public var timeStampFormat: String
        /// FileMaker's messages; see ``MessageCarrying``.
        @DataAPI.Aside public var messages: [DataAPI.Message] = []

        private enum CodingKeys: CodingKey {
            case name, buildDate, version, dateFormat, timeFormat, timeStampFormat
        }

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

        /// The server's own OpenAPI description leaves the wrapper out; servers send it. Both are taken.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            productInfo =
                try container.decodeIfPresent(ProductInfo.self, forKey: .productInfo) ?? ProductInfo(from: decoder)
        }
    }
}

extension DataAPI.Server.ProductInfo {
    /// The server's patterns as a format to read and write values with, for ``DataAPI/DateFormats/file(_:)``.
    ///
    /// - Throws: ``ValueFormat/PatternError`` for a pattern that says no complete date or time.
    public func valueFormat() throws(ValueFormat.PatternError) -> ValueFormat {
        try ValueFormat(date: dateFormat, time: timeFormat, timestamp: timeStampFormat)
    }
}

extension DataAPI.Server.ProductInfoContainer: DataAPIResponse {}
