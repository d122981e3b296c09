extension DataAPI {
    /// The form in which dates and timestamps travel, in both directions: the request parameter and the format of
    /// decoder and encoder are one value, so they cannot disagree.
    ///
    /// Find criteria are always written in US form.
    ///
    /// Source: Claris Data API guide, "Get a range of records", parameter `dateformats`.
    public struct DateFormats: Hashable, Sendable {
        /// The parameter's value; `nil` when it is not sent.
        let wireValue: String?
        let format: ValueFormat
        /// Whether the format is the one that the server names.
        var followsServer = false

        /// `MM/dd/yyyy`, which every server sends without the parameter. The default.
        public static let us = DateFormats(wireValue: nil, format: .us)

        /// The format that the server's product information names. Each server object requests it once, when a call
        /// that reads or writes records first has demand, within ``DataAPI/Config/timeouts``; other calls wait for the
        /// same answer. When the information is not available, as from FileMaker 17, or names no complete date, the
        /// call fails with that error, and the next call requests it again.
        public static let server = DateFormats(wireValue: nil, format: .us, followsServer: true)

        /// ISO 8601, `yyyy-MM-dd`. For reading FileMaker Server 19.6.1 and later, for writing 2024 and later.
        public static let iso8601 = DateFormats(wireValue: "2", format: .iso)

        /// The hosted file's own format, whose patterns you give. It needs the same servers as ``iso8601``.
        public static func file(_ format: ValueFormat) -> DateFormats {
            DateFormats(wireValue: "1", format: format)
        }
    }
}

extension DataAPI.DateFormats {
    /// The formats with the parameter that a request has to send to get this format.
    init(asking format: ValueFormat) {
        switch format {
        case .us: self = .us
        case .iso: self = .iso8601
        default: self = .file(format)
        }
    }
}
