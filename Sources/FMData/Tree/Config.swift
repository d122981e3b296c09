public import Foundation
public import Logging

// What a user sets of the HTTP client are its own types. Exported, so that whoever imports FMData sees their members, too.
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
        /// The default is HTTPS. A scheme in the server's `host` wins.
        public var scheme: Scheme = .https
        /// Where the API lives on the host. The default is `/fmi/data`.
        public var rootPath = "/fmi/data"
        /// Where plain HTTP may go. The default is this machine only: passwords and tokens travel in the clear. A call to any
        /// other host fails with ``FMRest/APIError/Code/invalidRequest``.
        public var plainHTTP: PlainHTTP = .loopbackOnly
        /// How long to wait for what. Single calls may have other limits: ``Calling/timeouts(_:)``.
        public var timeouts = Timeouts()
        /// How certificates are checked, with which one the client presents itself, and which versions of TLS will do.
        public var tls = TLS()
        /// The proxy to other machines. The default is the one that the environment names, if it names one:
        /// ``Proxy``.
        public var proxy: Proxy = .environment
        /// How many sessions a database may hold on its server, and how long things may take.
        public var sessions = SessionConfiguration()
        /// How often the live queries of this server may poll, all of them together. The default is once a second, and ten times at
        /// once after a rest.
        public var pollRateLimit = PollRateLimit()
        /// Connections to the server that may be open at once. The default is 16: two databases with all their sessions. Where
        /// more sessions or downloads are at work at the same time, they wait for a connection, as long as `timeouts.queue` says.
        public var maximumConnections = 16
        /// The largest answer that is taken, in bytes, after decompression. The default is 1 GiB. The content of a container
        /// is not counted: ``ContainerDownload`` has limits of its own.
        public var maximumResponseBytes = 1 << 30
        /// Whether the content of a container may be fetched from another server than this one, always without the
        /// session's token. The default is no: a container's URL is a text that came with a record.
        public var allowsForeignContainers = false
        /// Where values arrive. The default is `.background`.
        public var delivery: Delivery = .background
        /// Whether a call asks the file what it has when FileMaker refuses something without saying what: for the metadata of the
        /// layout at "Field is missing" (102), "Field cannot be modified" (201) and the codes of validation (500 to 513), for the
        /// names of layouts at "Layout is missing" (105), for those of scripts at "Script is missing" (104). The error then
        /// names it, in ``FMRest/APIError/fields``, ``FMRest/APIError/portals``, ``FMRest/APIError/layouts``,
        /// ``FMRest/APIError/scripts`` and its reason, and its hint says what may have been meant. The default is yes.
        ///
        /// An answer is used for 60 seconds, and calls that fail at the same time ask together: a thousand rows that are refused
        /// cost one request.
        public var explainsErrors = true
        /// Whether the first record of each layout is compared with the type that it is read into: names that only one of them has
        /// are told once in the log, as a warning where the layout lacks a field, else as a notice, and in
        /// ``Database/modelDrifts``. No request is sent for it. The default is no.
        ///
        /// It concerns types that list their fields, by coding keys that are `CaseIterable`, as those of generated types are;
        /// portals are not compared, and with a ``decoder`` of your own nothing is. See <doc:Models>.
        public var reportsModelDrift = false
        /// In which form dates and timestamps travel. The default is ``DateFormats/us``;
        /// ``DateFormats/server`` is what the server's product information says.
        ///
        /// This is the one place: what requests ask for and what ``decoding`` and ``encoding`` expect follow it, in whatever
        /// order they are set. A ``ValueOptions/format`` that is given in one of those is taken over here, and so asked of
        /// the server: the last one that was given counts.
        public var dateFormats = DateFormats.us
        /// How FileMaker's values become Swift values: each rule can be turned off.
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
        /// How Swift values become FileMaker's: each rule can be turned off.
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
        /// A decoder for `fieldData` and for the rows of portals, each by itself, instead of the library's own. FileMaker's
        /// rules for empty and textual numbers, dates, ids of rows and repetitions are then up to it. The answer around
        /// them, ids of records and names of portals are the library's business, whatever this decoder makes of keys; so are
        /// results of scripts. The default is `nil`.
        public var decoder: JSONDecoder?
        /// An encoder for the fields of a record and of portal rows, each row by itself, instead of the library's own. The
        /// request around them, names of portals, `recordId` and `modId` of rows are the library's business, whatever this
        /// encoder makes of keys; so are parameters of scripts. An array still fills the repetitions of its field. The
        /// default is `nil`.
        public var encoder: JSONEncoder?
        /// Where the library logs. The default is nowhere. Single calls may have another one: ``Calling/logger(_:)``.
        ///
        ///     config.logger = Logger(label: "invoices.fmdata")
        ///     config.logger?.logLevel = .debug
        ///
        /// At `debug` each call to the server is one line when it has ended, "call finished", "call failed" or "call
        /// cancelled", and so is each login ("login finished" …) and each logout. A session that the server refuses (952) is
        /// told as "session refused, request is repeated in another", a call that ``Calling/retrying(_:)`` sends again as "call is
        /// tried again after a pause". With each line go, as far as they apply:
        ///
        /// - `origin`, `method` and `path`: the path below the root of the API, with the names of database, layout, script
        ///   and field, and `{recordId}`, `{repetition}`, `{token}` and `{content}` for what is not a name;
        /// - `database` and `layout`;
        /// - `filemaker_code`: 0 for success, and `http_status`;
        /// - `error`: the ``FMRest/APIError/Code`` of a failure;
        /// - `tag`: what the caller says the call is part of, by ``Calling/tagged(_:)``;
        /// - `attempt` and `pause_ms`: of the attempt that is to come;
        /// - `duration_ms`: from the first demand to the end of the answer, for a container's content to its beginning.
        ///
        /// At `trace` the HTTP client adds its own lines, with `request`, `attempt` and `connection`. Warnings tell of what is
        /// dangerous in the configuration, of a token store that fails, of records that moved between pages, and of a main
        /// thread that is blocked. No line holds a password, a token, a parameter or the value of a field. A logger of a higher
        /// level costs nothing.
        public var logger: Logger?
        /// What the client calls itself to the server.
        public var userAgent = "FMData (Swift)"

        private var givenDecoding = DecodingOptions()
        private var givenEncoding = EncodingOptions()

        /// The defaults; each property says its own.
        public init() {}

        private mutating func adopt(_ format: ValueFormat?) {
            if let format, format != dateFormats.format { dateFormats = DateFormats(asking: format) }
        }
    }

    /// A version of the Data API, as it stands in the path.
    ///
    /// Version 1 shapes portal data after the layout's view setting; version 2 and later always return all related rows.
    public struct APIVersion: RawRepresentable, Hashable, Sendable {
        /// The version as it stands in the path: `v2`.
        public let rawValue: String
        /// A version by its name in the path, also one that this library does not know yet.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Version 1, for servers from FileMaker 17 on.
        public static let v1 = APIVersion(rawValue: "v1")
        /// Version 2, for servers from FileMaker 19 on.
        public static let v2 = APIVersion(rawValue: "v2")
        /// Whatever the server's newest is.
        public static let latest = APIVersion(rawValue: "vLatest")
    }

    /// Whether the connection is encrypted: `.https` or `.http`.
    public typealias Scheme = HTTPScheme

    /// Where plain HTTP may go: `.loopbackOnly`, to this machine, or `.anywhereUnencrypted`, where everyone on the way can read
    /// passwords, tokens and records.
    public typealias PlainHTTP = HTTPClientConfiguration.PlainHTTP

    /// Where the values of a call arrive that nonisolated code makes, unless that code runs on its caller's actor, as
    /// `nonisolated(nonsending)` functions do. Calls in the code of an actor, the main actor's included, bring their values to that
    /// actor from there: <doc:WhereValuesArrive>.
    ///
    /// - `.background`: on a background thread, the values of one subscription one after the other. A subscriber that blocks
    ///   stalls nobody else.
    /// - `.eventLoop`: on the connection's event loop, without a change of thread. A subscriber that blocks stalls every
    ///   request on that loop: for those who need the last microseconds and promise not to.
    public typealias Delivery = HTTPClientConfiguration.Delivery

    /// Spans after which a call fails with ``FMRest/APIError/Code/timeout``. `nil` waits for ever.
    ///
    /// They are set for all calls in ``Config/timeouts``, and for single ones where they are made:
    ///
    ///     config.timeouts.firstByte = .seconds(300)
    ///
    ///     people.timeouts { $0.total = .seconds(2) }.findRecords(query: query)
    ///
    /// | limit | of what | default |
    /// |---|---|---|
    /// | `queue` | the wait for a connection while all are busy | 60 s |
    /// | `connect` | having a connection where one has to be made, with TLS | 10 s |
    /// | `firstByte` | from the end of the request to the first byte of the answer: finds in unindexed fields, scripts | 120 s |
    /// | `idle` | no byte in either direction while one is expected | 60 s |
    /// | `minimumRate` | the bytes of an answer that have to come in each second, on average | 1,000 |
    /// | `total` | the whole call: session, login, connection, sending, answer, and whatever is done once more | none |
    ///
    /// Each call ends with these, also on a server that is silent or sends a byte every now and then: an answer of n bytes is
    /// there n / 1,000 + 120 seconds after its head, or the call fails. `total` has no default because it would have to be longer
    /// than the longest script or upload. A session that is waited for has a limit of its own
    /// (``SessionConfiguration/waitingDeadline``).
    ///
    /// Connections are shared. A call that sets a `connect` of its own gives up when that is over, whether it waits for a new
    /// connection or for a busy one; with a longer one an attempt to connect that it causes may take longer.
    ///
    /// In a stream (`records`, the content of a container) the time does not count in which the subscriber asks for
    /// nothing: it is the server that is given so much time, not the subscriber. A login is shared with others who
    /// wait for it, and goes on for a while when a call has given up.
    ///
    /// The error's reason says what the call was waiting for (a session, a connection, the answer, the rest of the
    /// answer), which limit struck and how long it was. ``FMRest/APIError/outcomeIsUnknown`` is `true` for a write that
    /// had been sent, at least in part; where nothing was sent, or nothing that changes anything, it is `false`, and
    /// ``FMRest/APIError/isRetryable`` `true`.
    ///
    /// OpenCombine's operator `timeout(_:scheduler:)` is no replacement: it does not know whether anything was sent, and
    /// on a concurrent queue such as `DispatchQueue.global()` it loses values, since it hands each value and the
    /// completion to the queue one by one and the completion may overtake the value. Set a limit of the call instead, or
    /// give the operator a serial queue.
    public typealias Timeouts = HTTPTimeouts

    /// How TLS is done. The default verifies the certificate and the host name against the system's roots.
    ///
    /// ```swift
    /// config.tls.roots = .systemAnd(file: "ca.pem")               // a private authority beside the public ones
    /// config.tls.roots = .only(file: "server.pem")                // this one and no other
    /// config.tls.clientCertificate = .init(chainFile: "me.pem", keyFile: "me.key", passphrase: secret)
    /// config.tls.pinnedPublicKeys = ["qOkfW/NREyuKnwgPhYFBTrQ7qDiA5q2yYh+q2iY1GFY="]
    /// config.tls.minimumVersion = .tls13
    /// ```
    ///
    /// `dangerouslySkipsVerification` accepts any certificate, for a development machine only; a server that is made with it
    /// logs a warning. What cannot be used, such as a file that is not there, fails with ``FMRest/APIError/Code/tls`` and says
    /// which file it is. Keys and passphrases are never printed.
    public typealias TLS = TLSOptions

    /// Whether connections go through an HTTP proxy, which opens a tunnel for each: to a server by HTTPS it sees host and port
    /// and no more. This machine is always reached directly.
    ///
    /// - `.environment`: as the variables say. `https_proxy` (or `http_proxy` for plain HTTP, or `all_proxy` for both) names it as
    ///   `http://user:password@host:port`, `no_proxy` lists hosts that need none.
    /// - `.none`: directly.
    /// - `.proxy(HTTPProxy(host: "proxy.example.com", port: 3128, credentials: .init(user: "me", password: secret)))`: through
    ///   this one. Its credentials are never printed.
    public typealias Proxy = ProxyOptions
}

extension DataAPI.Config {
    /// What of it the HTTP client is set up with.
    var http: HTTPClientConfiguration {
        HTTPClientConfiguration(
            timeouts: timeouts,
            maximumConnectionsPerOrigin: maximumConnections,
            maximumBodyBytes: maximumResponseBytes,
            tls: tls,
            delivery: delivery,
            plainHTTP: plainHTTP,
            proxy: proxy
        )
    }
}
