public import Foundation
public import Logging

// These settings are the HTTP client's own types. They are exported, so that code that imports FMData also sees their
// members.
@_exported public import struct FMHTTP.HTTPClientConfiguration
@_exported public import struct FMHTTP.HTTPProxy
@_exported public import enum FMHTTP.HTTPScheme
@_exported public import struct FMHTTP.HTTPTimeouts
@_exported public import enum FMHTTP.ProxyOptions
@_exported public import struct FMHTTP.TLSOptions

extension DataAPI {
    /// How a server is reached and how its answers are read. Every property has a default that suits a FileMaker Server
    /// with a valid certificate.
    ///
    /// ```swift
    /// var config = DataAPI.Config()
    /// config.sessions.maximumSessions = 4
    /// config.timeouts.firstByte = .seconds(300)                   // long scripts
    /// let server = DataAPI.Server(host: "fms.example.com", config: config)
    /// print(server.config.sessions.maximumSessions)               // 4
    /// ```
    public struct Config: Sendable {
        /// The version of the API in every path. The default is ``APIVersion/latest``.
        public var version: APIVersion = .latest
        /// The scheme that the server is reached by. The default is HTTPS. A scheme in the server's `host` takes
        /// precedence.
        public var scheme: Scheme = .https
        /// The path of the API on the host. The default is `/fmi/data`.
        public var rootPath = "/fmi/data"
        /// Where plain HTTP may go. The default is this machine only: passwords and tokens travel in the clear. A call
        /// to any other host fails with ``FMRest/APIError/Code/invalidRequest``.
        public var plainHTTP: PlainHTTP = .loopbackOnly
        /// The time limits of calls. Single calls may have other limits: ``Calling/timeouts(_:)``.
        public var timeouts = Timeouts()
        /// How certificates are checked, which certificate the client presents, and which versions of TLS are accepted.
        public var tls = TLS()
        /// The proxy for connections to other machines. The default is the one that the environment names, if any:
        /// ``Proxy``.
        public var proxy: Proxy = .environment
        /// How many sessions a database may hold on its server, and the time limits of sessions.
        public var sessions = SessionConfiguration()
        /// How often the live queries of this server may poll, all of them together. The default is once a second, and
        /// up to ten polls at once after a rest.
        public var pollRateLimit = PollRateLimit()
        /// The number of records on a page, where a call reads page by page and does not say how many. With `nil`, the
        /// default, the size follows the time and the bytes that pages take, so two runs of a program may ask for other
        /// pages. Less than 1 counts as 1.
        public var pageSize: Int?
        /// A limit for polls that several processes share; `nil`, the default, is none.
        public var pollGate: PollGate?
        /// The number of connections to the server that may be open at once. The default is 16: two databases with all
        /// their sessions. Further sessions and downloads wait for a connection, as long as `timeouts.queue` says.
        public var maximumConnections = 16
        /// The largest answer that is accepted, in bytes, after decompression. The default is 1 GiB. The content of a
        /// container is not counted: ``ContainerDownload`` has limits of its own.
        public var maximumResponseBytes = 1 << 30
        /// Whether the content of a container may be fetched from another server than this one, always without the
        /// session's token. The default is no: a container's URL is a text that came with a record.
        public var allowsForeignContainers = false
        /// Where values arrive that nonisolated code asks for. The default is `.background`. With `.eventLoop`, what
        /// comes while a thread is still asking may arrive on that thread or in the background.
        public var delivery: Delivery = .background
        /// Whether a call looks up what the file has when FileMaker refuses something without naming it: the metadata
        /// of the layout at "Field is missing" (102), "Field cannot be modified" (201) and the codes of validation (500
        /// to 513), the names of layouts at "Layout is missing" (105), those of scripts at "Script is missing" (104).
        /// The error then names it, in ``FMRest/APIError/fields``, ``FMRest/APIError/portals``,
        /// ``FMRest/APIError/layouts``, ``FMRest/APIError/scripts`` and its reason, and its hint says which name may
        /// have been meant. The default is yes.
        ///
        /// The looked-up answer is used for 60 seconds, and calls that fail at the same time share one lookup: a
        /// thousand refused rows cost one request.
        public var explainsErrors = true
        /// The form in which dates and timestamps travel. The default is ``DateFormats/us``; ``DateFormats/server`` is
        /// the form that the server's product information names.
        ///
        /// This setting is the only one: requests ask for this form, and ``decoding`` and ``encoding`` expect it, in
        /// whatever order they are set. A ``ValueOptions/format`` that is set in one of those two is adopted here, and
        /// so requested from the server; the last one set counts.
        public var dateFormats = DateFormats.us
        /// How FileMaker's values become Swift values. Each rule can be turned off.
        public var decoding: DecodingOptions {
            get {
                var options = givenDecoding
                options.values.format = dateFormats.format
                return options
            }
            set {
                givenDecoding = newValue
                adopt(newValue.values.givenFormat)
            }
        }
        /// How Swift values become FileMaker's values. Each rule can be turned off.
        public var encoding: EncodingOptions {
            get {
                var options = givenEncoding
                options.values.format = dateFormats.format
                return options
            }
            set {
                givenEncoding = newValue
                adopt(newValue.values.givenFormat)
            }
        }
        /// A decoder for `fieldData` and for each row of a portal, instead of the library's own. FileMaker's rules for
        /// empty and textual numbers, dates, row ids and repetitions are then up to it. The library itself still reads
        /// the answer around them, record ids and portal names, whatever this decoder does with keys, and the results
        /// of scripts. The default is `nil`.
        public var decoder: JSONDecoder?
        /// An encoder for the fields of a record and for each portal row, instead of the library's own. The library
        /// itself still writes the request around them, portal names, `recordId` and `modId` of rows, whatever this
        /// encoder does with keys, and the parameters of scripts. An array still fills the repetitions of its field.
        /// The default is `nil`.
        public var encoder: JSONEncoder?
        /// The logger of the library. The default is none. Single calls may have another one: ``Calling/logger(_:)``.
        ///
        ///     config.logger = Logger(label: "invoices.fmdata")
        ///     config.logger?.logLevel = .debug
        ///
        /// At `debug` each attempt of a call writes one line when it has ended, and so does each login, logout, page,
        /// batch and poll. Notices and warnings are for the operator of the program. <doc:Logging> lists the lines, and
        /// says how they are tied to the work of the program. Each line carries, as far as they apply:
        ///
        /// | key | what it is |
        /// |---|---|
        /// | `origin`, `http.method`, `http.path` | the request; the path is an ``OutgoingRequest/pathTemplate`` |
        /// | `fm.operation` | the ``Operation`` |
        /// | `fm.database`, `fm.layout`, `fm.record` | what it is about; the record by its id |
        /// | `fm.session` | a name of the session: eight digits of a digest of its token |
        /// | `fm.tag` | the name that the caller has set by ``Calling/tagged(_:)`` |
        /// | `fm.attempt` | the number of the attempt, from 2 on; of a pause, the number of the one to come |
        /// | `fm.code`, `http.status` | FileMaker's code, 0 for success, and the status of the answer |
        /// | `error`, `reason` | of a failure: its ``FMRest/APIError/Code``, and what happened, without a value |
        /// | `rows` | the number of records in the answer, or on the page |
        /// | `bytes_in`, `bytes_out` | the bytes of the bodies of answer and request, without compression |
        /// | `duration_ms` | from the first demand to the end of the answer, or to the beginning of a content |
        /// | `pause_ms`, `waited_ms` | a pause before the next attempt or poll; a wait for a session |
        /// | `sessions`, `logging_in`, `limit`, `waiting` | a pool: its ``SessionStatus`` |
        /// | `delivered`, `total` | a page: the number of records so far, and of all |
        /// | `created`, `updated`, `deleted`, `failed`, `unknown`, `skipped` | a batch: its ``BatchSummary`` |
        /// | `woken_by`, `work_ms` | a poll: its cause, and the time that it has taken the host |
        /// | `drift`, `places`, `records` | records that moved between pages: a ``PageDrift`` |
        /// | `valid_until`, `skew_s` | a certificate's end; by how many seconds the host's clock is ahead |
        /// | `percent`, `bytes`, `limit` | a ``TransferMeter`` |
        ///
        /// At `trace` the HTTP client adds its own lines, with `http.request`, `http.attempt`, `http.connection`,
        /// `wire_bytes_in` and `outcome`. No line holds a password, a token, a parameter or the value of a field. A
        /// logger of a higher level costs a call the comparison of the level.
        public var logger: Logger?
        /// Steps that every request to the server goes through: calls, logins, contents of containers. The default is
        /// none. Single calls may have more: ``CallOptions/middleware``.
        public var middleware: [Middleware] = []
        /// What sees calls begin and end. The default is nothing. Single calls may have others:
        /// ``CallOptions/observers``.
        public var observers: [CallObserver] = []
        /// What carries requests to the server. The default, `nil`, is the library's own HTTP client; with another one,
        /// ``tls``, ``proxy``, ``maximumConnections`` and ``maximumResponseBytes`` are up to that.
        public var transport: (any Transport)?
        /// The value of the `User-Agent` header of requests. The default is `FMData (Swift)`.
        public var userAgent = "FMData (Swift)"

        private var givenDecoding = DecodingOptions()
        private var givenEncoding = EncodingOptions()

        /// Creates a configuration with the defaults that the properties state.
        public init() {}

        private mutating func adopt(_ format: ValueFormat?) {
            if let format, format != dateFormats.format { dateFormats = DateFormats(asking: format) }
        }
    }

    /// A version of the Data API, as it appears in the path.
    ///
    /// Version 1 shapes portal data after the layout's view setting; version 2 and later return all related rows.
    public struct APIVersion: RawRepresentable, Hashable, Sendable {
        /// The version as it appears in the path: `v2`.
        public let rawValue: String
        /// Creates a version by its name in the path, also one that this library does not know yet.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Version 1, for servers from FileMaker 17 on.
        public static let v1 = APIVersion(rawValue: "v1")
        /// Version 2, for servers from FileMaker 19 on.
        public static let v2 = APIVersion(rawValue: "v2")
        /// The server's newest version.
        public static let latest = APIVersion(rawValue: "vLatest")
    }

    /// Whether the connection is encrypted: `.https` or `.http`.
    public typealias Scheme = HTTPScheme

    /// Where plain HTTP may go: `.loopbackOnly`, to this machine, or `.anywhereUnencrypted`, where passwords, tokens
    /// and records can be read on the network.
    public typealias PlainHTTP = HTTPClientConfiguration.PlainHTTP

    /// Where the values of a call in nonisolated code arrive, unless that code runs on its caller's actor, as
    /// `nonisolated(nonsending)` functions do. Calls in the code of an actor, including the main actor, publish their
    /// values on that actor: <doc:WhereValuesArrive>.
    ///
    /// - `.background`: on the main actor for subscribers that subscribe there, for others on a background thread, the
    ///   values of one subscription one after the other. A subscriber that blocks in the background delays no other.
    /// - `.eventLoop`: on the connection's event loop, without a change of thread. A subscriber that blocks stalls
    ///   every request on that loop: only for programs that need the last microseconds and never block.
    public typealias Delivery = HTTPClientConfiguration.Delivery

    /// The TLS settings. The default verifies the certificate and the host name against the system's roots.
    ///
    /// ```swift
    /// config.tls.roots = .systemAnd(file: "ca.pem")               // a private authority beside the public ones
    /// config.tls.roots = .only(file: "server.pem")                // this one and no other
    /// config.tls.clientCertificate = .init(chainFile: "me.pem", keyFile: "me.key", passphrase: secret)
    /// config.tls.pinnedPublicKeys = ["qOkfW/NREyuKnwgPhYFBTrQ7qDiA5q2yYh+q2iY1GFY="]
    /// config.tls.minimumVersion = .tls13
    /// ```
    ///
    /// `dangerouslySkipsVerification` accepts any certificate, for a development machine only; a server created with it
    /// logs a warning. A setting that cannot be used, such as a missing file, makes calls fail with
    /// ``FMRest/APIError/Code/tls``, and the error names the file. Keys and passphrases are never printed.
    public typealias TLS = TLSOptions

    /// The HTTP proxy of connections. The proxy opens a tunnel for each: of an HTTPS connection it sees host and port
    /// only. This machine is always reached directly.
    ///
    /// - `.environment`: as the environment variables say. `https_proxy` (or `http_proxy` for plain HTTP, or
    ///   `all_proxy` for both) names it as `http://user:password@host:port`, `no_proxy` lists hosts that need none.
    /// - `.none`: directly.
    /// - `.proxy(HTTPProxy(host: "proxy.example.com", port: 3128, credentials: .init(user: "me", password: secret)))`:
    ///   through this proxy. Its credentials are never printed.
    public typealias Proxy = ProxyOptions

    /// How often the live queries of a server may poll, all of them together.
    ///
    ///     config.pollRateLimit = .init(perMinute: 240, burst: 40)         // a host of one's own, and many queries
    ///
    /// One poll of one query counts once, however many requests it makes. A query that may not poll yet waits, with the
    /// status ``LiveStatus/Kind/throttled``; the query that has waited longest goes first. The program's own calls are
    /// not counted, and neither are subscribers: equal queries share their polls.
    public struct PollRateLimit: Hashable, Sendable {
        /// The most polls per minute, in the long run. The default is 60: one a second. Less than 1 counts as 1.
        public var perMinute: Int
        /// The most polls that may begin at once after a rest. The default is 10. Less than 1 counts as 1.
        public var burst: Int

        /// A poll rate limit: 60 a minute, 10 at once by default; see the properties.
        public init(perMinute: Int = 60, burst: Int = 10) {
            self.perMinute = perMinute
            self.burst = burst
        }
    }
}

extension DataAPI.Config {
    /// The configuration of the HTTP client.
    var http: HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration()
        configuration.timeouts = timeouts
        configuration.maximumConnectionsPerOrigin = maximumConnections
        configuration.maximumBodyBytes = maximumResponseBytes
        configuration.tls = tls
        configuration.delivery = delivery
        configuration.plainHTTP = plainHTTP
        configuration.proxy = proxy
        return configuration
    }
}
