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
        /// The number of connections to the server that may be open at once. The default is 16: two databases with all
        /// their sessions. Further sessions and downloads wait for a connection, as long as `timeouts.queue` says.
        public var maximumConnections = 16
        /// The largest answer that is accepted, in bytes, after decompression. The default is 1 GiB. The content of a
        /// container is not counted: ``ContainerDownload`` has limits of its own.
        public var maximumResponseBytes = 1 << 30
        /// Whether the content of a container may be fetched from another server than this one, always without the
        /// session's token. The default is no: a container's URL is a text that came with a record.
        public var allowsForeignContainers = false
        /// Where values arrive that nonisolated code asks for. The default is `.background`.
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
        /// Whether the first record of each layout is compared with the type that it is read into. Names that only one
        /// of them has are reported once in the log, as a warning where the layout lacks a field, else as a notice, and
        /// in ``Database/modelDrifts``. No request is sent for it. The default is no.
        ///
        /// Only types that list their fields are compared, by coding keys that are `CaseIterable`, as those of
        /// generated types are. Portals are not compared, and with a ``decoder`` of your own nothing is. See
        /// <doc:Models>.
        public var reportsModelDrift = false
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
        /// At `debug` each call to the server writes one line when it has ended, "call finished", "call failed" or
        /// "call cancelled", and so does each login ("login finished" …) and each logout. A session that the server
        /// refuses (952) is logged as "session refused, request is repeated in another", a call that
        /// ``Calling/retrying(_:)`` sends again as "call is tried again after a pause". Each line carries, as far as
        /// they apply:
        ///
        /// - `origin`, `method` and `path`: the path below the root of the API, with the names of database, layout,
        ///   script and field, and `{recordId}`, `{repetition}`, `{token}` and `{content}` in place of everything else;
        /// - `database` and `layout`;
        /// - `filemaker_code`: 0 for success, and `http_status`;
        /// - `error`: the ``FMRest/APIError/Code`` of a failure;
        /// - `tag`: the name that the caller has set by ``Calling/tagged(_:)``;
        /// - `attempt` and `pause_ms`: the number of the coming attempt and the pause before it;
        /// - `duration_ms`: from the first demand to the end of the answer, for a container's content to its beginning.
        ///
        /// At `trace` the HTTP client adds its own lines, with `request`, `attempt` and `connection`. Warnings report
        /// dangerous settings, a token store that fails, records that moved between pages, and a main thread that is
        /// blocked. No line holds a password, a token, a parameter or the value of a field. A logger of a higher level
        /// costs nothing.
        public var logger: Logger?
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
    /// - `.background`: on a background thread, the values of one subscription one after the other. A subscriber that
    ///   blocks delays no other.
    /// - `.eventLoop`: on the connection's event loop, without a change of thread. A subscriber that blocks stalls
    ///   every request on that loop: only for programs that need the last microseconds and never block.
    public typealias Delivery = HTTPClientConfiguration.Delivery

    /// The time limits after which a call fails with ``FMRest/APIError/Code/timeout``. `nil` is no limit.
    ///
    /// They are set for all calls in ``Config/timeouts``, and for single calls where they are made:
    ///
    ///     config.timeouts.firstByte = .seconds(300)
    ///
    ///     people.timeouts { $0.total = .seconds(2) }.findRecords(query: query)
    ///
    /// | limit | what it limits | default |
    /// |---|---|---|
    /// | `queue` | the wait for a connection while all are busy | 60 s |
    /// | `connect` | opening a connection where one has to be made, with TLS | 10 s |
    /// | `firstByte` | from the end of the request to the first byte of the answer: unindexed finds, scripts | 120 s |
    /// | `idle` | the time without a byte in either direction while one is expected | 60 s |
    /// | `minimumRate` | the bytes of an answer that have to come in each second, on average | 1,000 |
    /// | `total` | the whole call: session, login, connection, sending, answer, and all that is repeated | none |
    ///
    /// These limits end every call, also on a server that is silent or sends a byte every now and then: an answer of n
    /// bytes is complete n / 1,000 + 120 seconds after its head, or the call fails. `total` has no default because it
    /// would have to be longer than the longest script or upload. The wait for a session has a limit of its own
    /// (``SessionConfiguration/waitingDeadline``).
    ///
    /// Connections are shared. A call with a `connect` limit of its own gives up when that has passed, whether it waits
    /// for a new connection or for a busy one; with a longer limit, the connection attempt that it starts may take
    /// longer.
    ///
    /// In a stream (`records`, the content of a container) the time in which the subscriber has no demand does not
    /// count: the limits are for the server, not for the subscriber. A login is shared with other calls that wait for
    /// it, and goes on for a while after a call has given up.
    ///
    /// The error's reason says what the call was waiting for (a session, a connection, the answer, the rest of the
    /// answer), which limit struck and how long it was. ``FMRest/APIError/outcomeIsUnknown`` is `true` for a write that
    /// had been sent, at least in part; where nothing was sent, or nothing that changes anything, it is `false`, and
    /// ``FMRest/APIError/isRetryable`` `true`.
    ///
    /// OpenCombine's operator `timeout(_:scheduler:)` is no replacement: it does not know whether anything was sent. On
    /// a concurrent queue such as `DispatchQueue.global()` it also loses values, since it sends each value and the
    /// completion to the queue one by one and the completion may overtake the value. Set a limit of the call instead,
    /// or give the operator a serial queue.
    public typealias Timeouts = HTTPTimeouts

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
