public import Foundation
public import Logging

extension Sandbox {
    /// The release of FileMaker Server whose answers the sandbox imitates.
    ///
    /// Source: the Claris FileMaker Data API Guides of the releases, and responses recorded from them.
    public enum ServerVersion: Int, Codable, Sendable, Comparable, CaseIterable {
        /// 2018: no `dataInfo`, no `productInfo`, no lists and no run-script.
        case v17 = 17
        /// 2019: everything but `validateSession` and `dateformats`; JSON bodies with a charset are refused.
        case v18 = 18
        /// 2020 to 2022 (19.6): `validateSession`, `v2`, `table` in the layout list, `dateformats` on reads.
        case v19 = 19
        /// 2025: `dateformats` and `options` on writes, `isSessionInUse`, no version in `productInfo`.
        case v22 = 22

        /// Older releases come first.
        public static func < (left: ServerVersion, right: ServerVersion) -> Bool { left.rawValue < right.rawValue }
    }

    /// What a find answers whose offset lies past the last record found. Sources disagree: the notes of a script step name
    /// both errors, and the tests of a client that passed on a real host take 401 or an empty page.
    public enum FindPastEnd: String, Codable, Sendable, CaseIterable {
        /// Error 401, as for a find without a match.
        case noRecordsMatch = "401"
        /// Error 101, as for a range of records past the end.
        case recordMissing = "101"
        /// Success, and no records.
        case emptyPage = "empty"
    }

    /// What happens on a layout that shows fields of another file (a data source) for which the login brought no credentials,
    /// when that file has no account like the session's. A client's tests passed on a host whose two files had different
    /// accounts; what it showed of the second one is not known.
    public enum DataSourceWithoutAccount: String, Codable, Sendable, CaseIterable {
        /// The call succeeds: fields of that file are empty, portals on it have no rows, and writing to it is error 200.
        case emptyValues = "empty"
        /// Error 212, as for credentials that are wrong.
        case invalidAccount = "212"
        /// Error 802: the file cannot be opened.
        case fileNotOpened = "802"
    }

    /// What stands between the day and the time of a timestamp with `dateformats` 2. The guide calls the form ISO 8601, which allows
    /// more than one; requests may write either.
    public enum ISOTimestampSeparator: String, Codable, Sendable, CaseIterable {
        /// `2026-01-31T22:15:00`.
        case letter = "T"
        /// `2026-01-31 22:15:00`.
        case space = " "
    }

    /// Which dates a criterion may hold when the request has `dateformats` 2. The guide speaks of answers alone, and a public sample
    /// keeps US dates in criteria beside another format. What cannot be read is error 500.
    public enum CriterionDates: String, Codable, Sendable, CaseIterable {
        /// `01/31/2026` and `2026-01-31`.
        case usAndISO = "US and ISO"
        /// `01/31/2026`, as in other requests.
        case us = "US"
        /// `2026-01-31`.
        case iso = "ISO"
    }

    /// How the fields in the rows of a portal are named in answers. The guide speaks of qualified names under a condition that is not
    /// known; recorded answers have them. Requests write qualified names in any case.
    public enum PortalFieldNames: String, Codable, Sendable, CaseIterable {
        /// With their table: `Phones::Number`.
        case qualified
        /// Without it: `Number`.
        case plain
    }

    /// How containers are streamed: the server preference `AuthenticatedStream`. Servers before 19 have no such preference:
    /// with them every download is ``open``.
    public enum ContainerStreaming: Int, Sendable, CaseIterable {
        /// A download needs the session's bearer token (preference 1, the default of a server since 19.3.2).
        case authenticated = 1
        /// A download needs no token, only the URL and the cookie that comes with it (preference 2). The URL outlives a
        /// logout: it is good for as long as a session lives without requests, and not beyond a restart.
        case open = 2
    }

    /// When an account is locked because somebody guesses its password: after so many wrong ones in a row, each within
    /// ``period`` of the one before, logins are refused with 214, even with the right password, until ``period`` has passed
    /// since the last wrong one. Only accounts with a name and password are counted; a login that succeeds starts anew.
    public struct LoginThrottling: Sendable, Equatable {
        /// How many wrong passwords lock the account. The default is 5.
        public var attempts: Int
        /// How long it is locked, on the sandbox's clock. The default is 5 minutes.
        public var period: Duration

        /// Throttling after a number of wrong passwords.
        public init(attempts: Int = 5, period: Duration = .seconds(5 * 60)) {
            self.attempts = attempts
            self.period = period
        }
    }

    /// A logger for ``Configuration/logger`` that writes every request to standard error.
    public static var standardErrorLogger: Logger {
        Logger(label: "FMSandbox", factory: { StreamLogHandler.standardError(label: $0) })
    }

    /// How a sandbox behaves.
    public struct Configuration: Sendable {
        /// Whether it speaks TLS. The default is false.
        public var tls: Bool
        /// What it shows over TLS. The default is ``Certificate/loopback``.
        public var certificate: Certificate
        /// The port to listen on. The default, 0, lets the system choose.
        public var port: Int
        /// How many sessions may be open at once. The default is 500, as on a server.
        public var maximumSessions: Int
        /// The error for one session too many: 956 (the default) or 812, both of which have been seen.
        public var sessionLimitCode: Int
        /// How long a session lives after its last request. nil, the default, leaves it to the solutions, and to 15 minutes where
        /// they do not say.
        public var sessionLifetime: Duration?
        /// When wrong passwords lock an account. Never by default, so that tests may log in wrongly as often as they like.
        public var loginThrottling: LoginThrottling?
        /// How long the answer to every request is held back. None by default.
        public var latency: Duration?
        /// How long a connection without a request is kept open, in real time. nil, the default, leaves it to the solutions, and
        /// to 5 s, as on a server, where they do not say.
        public var keepAlive: Duration?
        /// How many requests a connection serves before it is closed. No limit by default.
        public var requestsPerConnection: Int?
        /// The greatest body of a request, in bytes; more is refused with HTTP status 413. The default is 64 MB.
        public var maximumBodyBytes: Int
        /// Whether bodies over 1 KB are compressed for clients that accept gzip. nil, the default, leaves it to the solutions;
        /// where they do not say, they are.
        public var compression: Bool?
        /// How containers are streamed. nil, the default, leaves it to the solutions, and to
        /// ``ContainerStreaming/authenticated`` where they do not say.
        public var containerStreaming: ContainerStreaming?
        /// Whether the list of databases shows only what the given account may open. nil, the default, is what servers of the
        /// version do by default: since 19 they do.
        public var filtersDatabases: Bool?
        /// The release to imitate. nil, the default, leaves it to the solutions (``Solution/Server``), and to
        /// ``ServerVersion/v22`` where they do not say.
        public var serverVersion: ServerVersion?
        /// What a find answers whose offset lies past the end. nil, the default, leaves it to the solutions, and to
        /// ``FindPastEnd/noRecordsMatch`` where they do not say.
        public var findPastEnd: FindPastEnd?
        /// Whether the names of layouts, fields, portals, scripts and value lists in requests may be written in any case. nil,
        /// the default, leaves it to the solutions; where they do not say, names must be spelt exactly.
        public var ignoresNameCase: Bool?
        /// Whether creating a record with portal rows answers `newPortalRecordInfo`, as editing one does. nil, the default,
        /// leaves it to the solutions; where they do not say, it does not.
        public var newPortalRecordInfoOnCreate: Bool?
        /// What calls answer that need a data source whose file lacks the session's account. nil, the default, leaves it to the
        /// solutions, and to ``DataSourceWithoutAccount/emptyValues`` where they do not say.
        public var dataSourceWithoutAccount: DataSourceWithoutAccount?
        /// What stands between day and time of timestamps in ISO 8601. nil, the default, leaves it to the solutions, and to
        /// ``ISOTimestampSeparator/letter`` where they do not say.
        public var isoTimestampSeparator: ISOTimestampSeparator?
        /// Which dates criteria may hold when dates travel in ISO 8601. nil, the default, leaves it to the solutions, and to
        /// ``CriterionDates/usAndISO`` where they do not say.
        public var isoCriterionDates: CriterionDates?
        /// How the fields of portal rows are named. nil, the default, leaves it to the solutions, and to
        /// ``PortalFieldNames/qualified`` where they do not say.
        public var portalFieldNames: PortalFieldNames?
        /// Which part of the OData interface there is. The default is ``OData/off``.
        public var odata: OData
        /// The clock. The default is the machine's.
        public var clock: any SandboxClock
        /// The time zone of the host's wall clock. nil, the default, leaves it to the solutions, and to UTC where they do not
        /// say.
        public var timeZone: TimeZone?
        /// Where requests are logged: method, path, status and FileMaker's code, never a body, a query, a token or a password.
        public var logger: Logger

        /// The behaviour of a server in its default state, on a free port.
        public init(
            tls: Bool = false,
            certificate: Certificate = .loopback,
            port: Int = 0,
            maximumSessions: Int = 500,
            sessionLimitCode: Int = 956,
            sessionLifetime: Duration? = nil,
            loginThrottling: LoginThrottling? = nil,
            latency: Duration? = nil,
            keepAlive: Duration? = nil,
            requestsPerConnection: Int? = nil,
            maximumBodyBytes: Int = 64 << 20,
            compression: Bool? = nil,
            containerStreaming: ContainerStreaming? = nil,
            filtersDatabases: Bool? = nil,
            serverVersion: ServerVersion? = nil,
            findPastEnd: FindPastEnd? = nil,
            ignoresNameCase: Bool? = nil,
            newPortalRecordInfoOnCreate: Bool? = nil,
            dataSourceWithoutAccount: DataSourceWithoutAccount? = nil,
            isoTimestampSeparator: ISOTimestampSeparator? = nil,
            isoCriterionDates: CriterionDates? = nil,
            portalFieldNames: PortalFieldNames? = nil,
            odata: OData = .off,
            clock: any SandboxClock = SystemClock(),
            timeZone: TimeZone? = nil,
            logger: Logger = Logger(label: "FMSandbox", factory: { _ in SwiftLogNoOpLogHandler() })
        ) {
            self.tls = tls
            self.certificate = certificate
            self.port = port
            self.maximumSessions = maximumSessions
            self.sessionLimitCode = sessionLimitCode
            self.sessionLifetime = sessionLifetime
            self.loginThrottling = loginThrottling
            self.latency = latency
            self.keepAlive = keepAlive
            self.requestsPerConnection = requestsPerConnection
            self.maximumBodyBytes = maximumBodyBytes
            self.compression = compression
            self.containerStreaming = containerStreaming
            self.filtersDatabases = filtersDatabases
            self.serverVersion = serverVersion
            self.findPastEnd = findPastEnd
            self.ignoresNameCase = ignoresNameCase
            self.newPortalRecordInfoOnCreate = newPortalRecordInfoOnCreate
            self.dataSourceWithoutAccount = dataSourceWithoutAccount
            self.isoTimestampSeparator = isoTimestampSeparator
            self.isoCriterionDates = isoCriterionDates
            self.portalFieldNames = portalFieldNames
            self.odata = odata
            self.clock = clock
            self.timeZone = timeZone
            self.logger = logger
        }
    }
}
