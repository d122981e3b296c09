extension DataAPI {
    /// In which form dates and timestamps travel, in both directions: what is asked of the server and what the decoder and
    /// the encoder expect are one value and cannot disagree.
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

        /// `MM/dd/yyyy`, what every server sends when nothing is asked for. The default.
        public static let us = DateFormats(wireValue: nil, format: .us)

        /// As the server's product information says. It is asked for once for each server object, when a call that reads or
        /// writes records is first asked for its value, within ``DataAPI/Config/timeouts``; calls that come meanwhile wait
        /// for the same answer. Where it cannot be had, as from FileMaker 17, or names no complete date, the call fails
        /// with that error, and the next one asks again.
        public static let server = DateFormats(wireValue: nil, format: .us, followsServer: true)

        /// ISO 8601, `yyyy-MM-dd`. For reading FileMaker Server 19.6.1 and later, for writing 2024 and later.
        public static let iso8601 = DateFormats(wireValue: "2", format: .iso)

        /// As the hosted file writes them; its patterns have to be given. Servers as for ``iso8601``.
        public static func file(_ format: ValueFormat) -> DateFormats {
            DateFormats(wireValue: "1", format: format)
        }
    }
}

extension DataAPI.DateFormats {
    /// What a request has to ask for to get this format.
    init(asking format: ValueFormat) {
        switch format {
        case .us: self = .us
        case .iso: self = .iso8601
        default: self = .file(format)
        }
    }
}
