/// A FileMaker error code, as in `messages[0].code` and `scriptError`.
///
/// Any number is a code. The codes that Claris documents have a ``name``, and many a ``hint``; those that programs most
/// often decide by have a constant:
///
/// ```swift
/// do {
///     try await people.delete(999_999).firstValue()
/// } catch let error as FMRest.APIError {
///     switch error.fileMakerCode {
///     case .recordMissing: print("gone before")               // gone before
///     case .invalidToken: print("logged out")
///     case let code? where code.isValidation: print("refused: \(code)")
///     default: throw error
///     }
/// }
/// ```
///
/// An error that has a code (``FileMakerCodedError``) can be caught by it:
///
///     do { … } catch FileMakerErrorCode.modIdMismatch { … }
///
/// The code `401` means "no records match"; it has nothing to do with the HTTP status 401.
///
/// Source: Claris, "FileMaker error codes", edition 26.
public struct FileMakerErrorCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number as FileMaker prints it. Negative for codes such as -1, "unknown error".
    public let rawValue: Int

    /// Creates the code with this number, documented or not.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Creates the code with this number, documented or not.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }

    /// Creates a code from a message in an answer, where it is a text. `nil` when the text is no integer, which
    /// FileMaker never sends.
    public init?(wireText: String) {
        guard let number = Int(wireText) else { return nil }
        self.init(rawValue: number)
    }

    /// The meaning of the code in a few words, such as "record is missing". Unique among the documented codes, `nil`
    /// for all others.
    public var name: String? { row?.name }

    /// The code and its meaning as a text, also for undocumented codes: "FileMaker error 101: record is missing".
    public var summary: String {
        "FileMaker error \(rawValue): \(name ?? "not a documented code")"
    }

    /// The most common cause of the code in a Data API program and what to do about it: which privilege, which setting,
    /// which argument. `nil` where the name says it all.
    public var hint: String? { row?.hint }

    /// Whether the same request may succeed when it is sent again a little later. This holds for codes of a transient
    /// state that say that nothing was done: a lock held by another user (13, 300–304, 308, 310, 870), a lock lost
    /// during the request (307), a full or busy host (812, 956, 1638, 1701), a file that is closed for the moment
    /// (802), a window that was closed with its session (112), or FileMaker's own advice to retry (16).
    ///
    /// `false` for similar codes that need something else first: 306 and 512 (read the record again and decide), 952
    /// (log in, which a database does by itself), 953 (a limit of data per year, which waiting does not lift), 214
    /// (each further attempt prolongs the lock-out).
    public var isRetryable: Bool { passing != nil }

    /// Whether the host had no room for another session or connection (812, 956, 1638). The credentials are not at
    /// fault: wait before the next login and let idle sessions end. 953 is not included: it limits the data sent in a
    /// year, whatever sessions end.
    public var meansHostFull: Bool { passing == .fullHost }

    /// Whether the code by itself says that the session is closed (952). A lost window (112) can mean the same, but
    /// also a script's mistake: there the session's own history decides.
    public var meansSessionLost: Bool { self == .invalidToken }

    /// Whether a field refused a value (500–513).
    public var isValidation: Bool { category == .validation }
}

extension FileMakerErrorCode: Comparable {
    /// Orders codes by their numbers.
    public static func < (left: FileMakerErrorCode, right: FileMakerErrorCode) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension FileMakerErrorCode: CustomStringConvertible {
    /// The number and, where there is one, the name: "101 (record is missing)".
    public var description: String {
        name.map { "\(rawValue) (\($0))" } ?? "\(rawValue)"
    }
}

/// An error that may have a FileMaker code. `catch FileMakerErrorCode.recordInUse` works for errors of this protocol.
public protocol FileMakerCodedError: Error {
    /// The code that FileMaker gave; `nil` when the failure has another cause.
    var fileMakerCode: FileMakerErrorCode? { get }
}

/// Matches an error by its FileMaker code in `catch` and `switch`.
public func ~= (code: FileMakerErrorCode, error: any Error) -> Bool {
    (error as? any FileMakerCodedError)?.fileMakerCode == code
}

/// Matches an error by the ``FileMakerErrorCode/Category-swift.struct`` of its FileMaker code in `catch` and `switch`.
public func ~= (category: FileMakerErrorCode.Category, error: any Error) -> Bool {
    (error as? any FileMakerCodedError)?.fileMakerCode?.category == category
}

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
