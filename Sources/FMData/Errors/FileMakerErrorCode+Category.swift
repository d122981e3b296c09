extension FileMakerErrorCode {
    /// The category of a code, for decisions that do not depend on the single number. New ones may be added.
    public struct Category: RawRepresentable, Hashable, Sendable {
        /// The name of the category in lower case.
        public let rawValue: String

        /// Creates a category from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No error at all: code 0.
        public static let success = Category(rawValue: "success")
        /// General failures of FileMaker, including -1.
        public static let general = Category(rawValue: "general")
        /// A thing that the request, a script or the file refers to does not exist.
        public static let missing = Category(rawValue: "missing")
        /// Logging in: wrong, inactive, expired or throttled accounts.
        public static let account = Category(rawValue: "account")
        /// The account is valid but may not do this.
        public static let privileges = Category(rawValue: "privileges")
        /// Another user or process has locked or changed the requested record or object.
        public static let locking = Category(rawValue: "locking")
        /// Finding, sorting and relationships; 401, "no records match", belongs here.
        public static let find = Category(rawValue: "find")
        /// A field refused a value.
        public static let validation = Category(rawValue: "validation")
        /// Files and disks.
        public static let file = Category(rawValue: "file")
        /// The host: its capacity, limits, settings and availability.
        public static let host = Category(rawValue: "host")
        /// The session of the Data API.
        public static let session = Category(rawValue: "session")
        /// The request is malformed: an error of the program or of this library.
        public static let request = Category(rawValue: "request")
        /// A script or a script step; also the codes 5000–5499, which a solution passes to *Revert Transaction*.
        public static let script = Category(rawValue: "script")
        /// Importing and exporting.
        public static let importExport = Category(rawValue: "importExport")
        /// Calculations and custom functions.
        public static let calculation = Category(rawValue: "calculation")
        /// ODBC and SQL.
        public static let sql = Category(rawValue: "sql")
        /// Sending mail.
        public static let mail = Category(rawValue: "mail")
        /// Plug-ins.
        public static let plugIn = Category(rawValue: "plugIn")
        /// Models and artificial intelligence.
        public static let intelligence = Category(rawValue: "intelligence")
        /// Connections that a script on the host opens, mostly by *Insert from URL*.
        public static let network = Category(rawValue: "network")
        /// Printing, spelling and other functions of the desktop program.
        public static let desktop = Category(rawValue: "desktop")
        /// A code outside every documented range.
        public static let unknown = Category(rawValue: "unknown")
    }

    /// The category of the code. An undocumented code has the category of its range, since Claris numbers new codes
    /// next to related ones.
    public var category: Category {
        row?.category ?? Self.rangeCategory(of: rawValue)
    }

    static func rangeCategory(of number: Int) -> Category {
        ranges.first { $0.codes.contains(number) }?.category ?? .unknown
    }

    /// The ranges that Claris numbers codes in, for codes that are not documented yet.
    private static let ranges: [(codes: ClosedRange<Int>, category: Category)] = [
        (-1 ... -1, .general),
        (0...0, .success),
        (1...99, .general),
        (100...199, .missing),
        (200...207, .privileges),
        (208...214, .account),
        (215...217, .privileges),
        (218...299, .account),
        (300...399, .locking),
        (400...499, .find),
        (500...513, .validation),
        (600...699, .desktop),
        (700...799, .importExport),
        (800...869, .file),
        (870...899, .intelligence),
        (900...950, .desktop),
        (951...999, .request),
        (1200...1399, .calculation),
        (1400...1499, .sql),
        (1500...1549, .mail),
        (1550...1599, .plugIn),
        (1600...1699, .network),
        (1700...1799, .request),
        (5000...5499, .script),
    ]
}
