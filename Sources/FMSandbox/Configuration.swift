public import Foundation
public import Logging

extension Sandbox {
    /// The release of FileMaker Server whose answers the sandbox imitates.
    ///
    /// Source: the Claris FileMaker Data API Guides of the releases, and responses recorded from them.
    public enum ServerVersion: Int, Codable, Sendable, Comparable, CaseIterable {
        /// 2018: without `dataInfo`, `productInfo`, the lists of layouts and scripts, and the call that runs a script.
        case v17 = 17
        /// 2019: everything but `validateSession` and `dateformats`. JSON bodies whose content type has a charset are
        /// refused.
        case v18 = 18
        /// 2020 to 2022 (19.6): `validateSession`, `v2`, `table` in the layout list, `dateformats` on reads.
        case v19 = 19
        /// 2025: `dateformats` and `options` on writes, `isSessionInUse`, no version in `productInfo`.
        case v22 = 22

        /// Compares release numbers: the older release is the smaller one.
        public static func < (left: ServerVersion, right: ServerVersion) -> Bool { left.rawValue < right.rawValue }
    }

    /// The answer to a find whose offset lies past the last record found. Sources disagree: the notes of a script step
    /// name both errors, and the tests of a client that passed on a real host accept 401 or an empty page.
    public enum FindPastEnd: String, Codable, Sendable, CaseIterable {
        /// Error 401, as for a find without a match.
        case noRecordsMatch = "401"
        /// Error 101, as for a range of records past the end.
        case recordMissing = "101"
        /// Success without records.
        case emptyPage = "empty"
    }

    /// What happens on a layout that shows fields of another file (a data source) if the login brought no credentials
    /// for that file and the file has no account like the session's. A client's tests passed on a host whose two files
    /// had different accounts; what that host showed of the second file is not known.
    public enum DataSourceWithoutAccount: String, Codable, Sendable, CaseIterable {
        /// The call succeeds: fields of that file are empty, portals on it have no rows, and writing to it is error
        /// 200.
        case emptyValues = "empty"
        /// Error 212, as for wrong credentials.
        case invalidAccount = "212"
        /// Error 802: the file cannot be opened.
        case fileNotOpened = "802"
    }

    /// The character between the date and the time of a timestamp with `dateformats` 2. The guide calls the format ISO
    /// 8601, which allows more than one. Requests may use either.
    public enum ISOTimestampSeparator: String, Codable, Sendable, CaseIterable {
        /// `2026-01-31T22:15:00`.
        case letter = "T"
        /// `2026-01-31 22:15:00`.
        case space = " "
    }

    /// The date formats that a find criterion may use if the request has `dateformats` 2. The guide mentions answers
    /// only, and a public sample uses US dates in criteria together with another format. A date that cannot be read is
    /// error 500.
    public enum CriterionDates: String, Codable, Sendable, CaseIterable {
        /// `01/31/2026` and `2026-01-31`.
        case usAndISO = "US and ISO"
        /// `01/31/2026`, as in other requests.
        case us = "US"
        /// `2026-01-31`.
        case iso = "ISO"
    }

    /// How answers name the fields in portal rows. The guide names a condition for qualified names that is not known;
    /// recorded answers have qualified names. Requests always use qualified names.
    public enum PortalFieldNames: String, Codable, Sendable, CaseIterable {
        /// With the name of the table occurrence: `Phones::Number`.
        case qualified
        /// Without it: `Number`.
        case plain
    }

    /// How containers are streamed: the server preference `AuthenticatedStream`. Servers before 19 have no such
    /// preference; their downloads are always ``open``.
    public enum ContainerStreaming: Int, Sendable, CaseIterable {
        /// A download needs the session's bearer token (preference 1, the default of a server since 19.3.2).
        case authenticated = 1
        /// A download needs no token, only the URL and the cookie that comes with it (preference 2). The URL outlives a
        /// logout: it is valid for the duration after which an idle session expires, but not after a restart.
        case open = 2
    }

    /// When wrong passwords lock an account. After ``attempts`` wrong passwords in a row, each within ``period`` of the
    /// one before, logins fail with 214, even with the right password, until ``period`` has passed since the last wrong
    /// one. Only accounts with a name and password are counted. A login that succeeds resets the count.
    public struct LoginThrottling: Sendable, Equatable {
        /// The number of wrong passwords that lock the account. The default is 5.
        public var attempts: Int
        /// How long the account is locked, on the sandbox's clock. The default is 5 minutes.
        public var period: Duration

        /// Creates a rule that locks an account for `period` after `attempts` wrong passwords.
        public init(attempts: Int = 5, period: Duration = .seconds(5 * 60)) {
            self.attempts = attempts
            self.period = period
        }
    }

    /// A Data API key of OttoFMS, a proxy on the host: a request below `/otto/fmi/data` with `Authorization: Bearer`
    /// and the key is carried out as the account that the key stands for. There is no login, and each request has a
    /// session of its own, which is not counted.
    ///
    /// A key for several databases is several values with the same ``text``. How the real proxy words its refusals is
    /// not known; the sandbox answers 401 with a body that is none of the Data API.
    ///
    /// Source: OttoFMS documentation, "API Proxy".
    public struct Key: Sendable, Equatable {
        /// The key itself.
        public var text: String
        /// The name of the database.
        public var database: String
        /// The name of the account, whose password the proxy knows. An account that is missing or may not use the Data
        /// API makes the proxy refuse the key.
        public var account: String

        /// Creates a key.
        public init(_ text: String, database: String, account: String) {
            self.text = text
            self.database = database
            self.account = account
        }
    }

    /// A logger for ``Configuration/logger`` that writes every request to standard error.
    public static var standardErrorLogger: Logger {
        Logger(label: "FMSandbox", factory: { StreamLogHandler.standardError(label: $0) })
    }

    /// The settings of a sandbox. Every property has a default, that of a new server, on a free port and without TLS.
    ///
    ///     var configuration = Sandbox.Configuration()
    ///     configuration.tls = true
    ///     let sandbox = try await Sandbox.start(configuration: configuration)
    public struct Configuration: Sendable {
        /// Whether the sandbox uses TLS. The default is false.
        public var tls = false
        /// The certificate for TLS. The default is ``Certificate/loopback``.
        public var certificate: Certificate = .loopback
        /// The port to listen on. The default is 0: the system chooses one.
        public var port = 0
        /// The maximum number of open sessions. The default is 500, as on a server.
        public var maximumSessions = 500
        /// The error of a login beyond ``maximumSessions``: 956 (the default) or 812. Both were seen on servers.
        public var sessionLimitCode = 956
        /// How long an idle session lives after its last request. If nil (the default), the solutions decide; without a
        /// setting there, it is 15 minutes.
        public var sessionLifetime: Duration?
        /// When wrong passwords lock an account. If nil (the default), never, so that tests may use wrong passwords as
        /// often as they like.
        public var loginThrottling: LoginThrottling?
        /// The keys that the proxy of OttoFMS takes. The default is none: then there is no proxy.
        public var keys: [Key] = []
        /// The delay of every answer. The default is none.
        public var latency: Duration?
        /// How long an idle connection stays open, in real time. If nil (the default), the solutions decide; without a
        /// setting there, it is 5 s, as on a server.
        public var keepAlive: Duration?
        /// The number of requests after which a connection is closed. The default is no limit.
        public var requestsPerConnection: Int?
        /// The maximum size of a request body in bytes; a larger body fails with HTTP status 413. The default is 64 MB.
        public var maximumBodyBytes = 64 << 20
        /// Whether bodies of 1 KB and more are compressed for clients that accept gzip. If nil (the default), the
        /// solutions decide; without a setting there, they are compressed.
        public var compression: Bool?
        /// How containers are streamed. If nil (the default), the solutions decide; without a setting there, it is
        /// ``ContainerStreaming/authenticated``.
        public var containerStreaming: ContainerStreaming?
        /// Whether the list of databases shows only those that the given account may open. If nil (the default), it
        /// does from version 19 on, as servers do by default.
        public var filtersDatabases: Bool?
        /// The release to imitate. If nil (the default), the solutions decide, by `server` in their files; without a
        /// setting there, it is ``ServerVersion/v22``.
        public var serverVersion: ServerVersion?
        /// The answer to a find whose offset lies past the end. If nil (the default), the solutions decide; without a
        /// setting there, it is ``FindPastEnd/noRecordsMatch``.
        public var findPastEnd: FindPastEnd?
        /// Whether requests may write the names of layouts, fields, portals, scripts and value lists in any case. If
        /// nil (the default), the solutions decide; without a setting there, names must match exactly.
        public var ignoresNameCase: Bool?
        /// Whether the answer to creating a record with portal rows has `newPortalRecordInfo`, as the answer to an edit
        /// has. If nil (the default), the solutions decide; without a setting there, it has not.
        public var newPortalRecordInfoOnCreate: Bool?
        /// The answer to calls that need a data source whose file lacks the session's account. If nil (the default),
        /// the solutions decide; without a setting there, it is ``DataSourceWithoutAccount/emptyValues``.
        public var dataSourceWithoutAccount: DataSourceWithoutAccount?
        /// The character between date and time of ISO 8601 timestamps. If nil (the default), the solutions decide;
        /// without a setting there, it is ``ISOTimestampSeparator/letter``.
        public var isoTimestampSeparator: ISOTimestampSeparator?
        /// The date formats that find criteria may use if the request's dates are in ISO 8601. If nil (the default),
        /// the solutions decide; without a setting there, it is ``CriterionDates/usAndISO``.
        public var isoCriterionDates: CriterionDates?
        /// How the fields of portal rows are named. If nil (the default), the solutions decide; without a setting
        /// there, it is ``PortalFieldNames/qualified``.
        public var portalFieldNames: PortalFieldNames?
        /// The part of the OData interface that the sandbox offers. The default is ``OData/off``.
        public var odata: OData = .off
        /// The sandbox's clock. The default is the machine's.
        public var clock: any SandboxClock = SystemClock()
        /// The time zone of the host's wall clock. If nil (the default), the solutions decide; without a setting there,
        /// it is UTC.
        public var timeZone: TimeZone?
        /// The logger for requests: method, path, status and FileMaker's code, never a body, a query, a token or a
        /// password. The default logs nothing.
        public var logger: Logger = Logger(label: "FMSandbox", factory: { _ in SwiftLogNoOpLogHandler() })

        /// Creates a configuration with the defaults.
        public init() {}
    }
}
