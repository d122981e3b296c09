import FMHTTP
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

extension DataAPI {
    /// Sees calls begin and end: for metrics, traces and logs of your own.
    ///
    /// ```swift
    /// var config = DataAPI.Config()
    /// config.observers = [
    ///     DataAPI.CallObserver { call in
    ///         DataAPI.CallObservation { end in
    ///             print(call.operation, end.rowCount, end.failure?.code.description ?? "fine")  // getRecords 100 fine
    ///         }
    ///     }
    /// ]
    /// let observed = DataAPI.Server(host: "fms.example.com", config: config)
    ///     .addDatabase("World", credentials: Credentials(user: "admin", password: secret))
    /// _ = try await observed.addLayout("Countries").getRecords().returnAs(Country.self).firstValue()
    /// ```
    ///
    /// A call is one subscription to a publisher of the library that sends one request: with all attempts, and with the
    /// wait for a session. Each row of a batch, each page, each poll of a live query and each lookup of the cause of an
    /// error is a call of its own. A login, a logout and the content of a container are no calls, but a ``Middleware``
    /// sees them. An answer that a call shares with an equal one, or takes from the cache, is a call without attempts.
    /// A call whose request cannot be written is not observed, since nothing begins.
    public struct CallObserver: Sendable {
        let begin: @Sendable (CallDescription) -> CallObservation?

        /// Creates an observer.
        ///
        /// - Parameter begin: called when a subscriber first asks a call for a value, on the thread that asks. With
        ///   `sink`, `firstValue()` and `values` that is the code that subscribes, so task-local values are those of
        ///   the caller; the second page of a stream is asked for by whatever thread has delivered the first. Returns
        ///   `nil` if the call is of no interest.
        public init(_ begin: @escaping @Sendable (CallDescription) -> CallObservation?) { self.begin = begin }
    }

    /// A call that begins.
    public struct CallDescription: Sendable {
        /// What the call asks for.
        public let operation: Operation
        /// Scheme, host and port; empty if the server's host is none.
        public var origin: String { address.map { "\($0)" } ?? "" }
        let address: Origin?
        /// The database; `nil` for calls of the server.
        public let database: String?
        /// The layout; `nil` for calls of a server or of a database.
        public let layout: String?
        /// The record; `nil` for calls that do not name one.
        public let recordId: Int?
        /// The name of the work that the call belongs to; see ``Calling/tagged(_:)``.
        public let tag: String?
        /// Whether a live query makes the call to detect changes.
        public let isPoll: Bool
    }

    /// What an observer does with one call.
    public struct CallObservation: Sendable {
        /// A step for the attempts of this call alone, behind all others. The default is none.
        public var middleware: Middleware?
        /// Called once, when the call has ended: before its subscriber receives the one value, the failure or the end.
        public var ended: @Sendable (CallEnd) -> Void

        /// Creates an observation.
        public init(middleware: Middleware? = nil, ended: @escaping @Sendable (CallEnd) -> Void) {
            self.middleware = middleware
            self.ended = ended
        }
    }

    /// The end of a call.
    public struct CallEnd: Sendable {
        /// The error of a failed call.
        public let failure: FMRest.APIError?
        /// Whether the subscriber cancelled the call before it had its value, or the last of its records. That is no
        /// failure.
        public let isCancelled: Bool
        /// The time since the call began.
        public let duration: Duration
        /// The number of attempts that were made to send the request.
        public let attempts: Int
        /// The number of records that were published.
        public let rowCount: Int
        /// The bytes of the bodies of requests, over all attempts.
        public let bytesSent: Int
        /// The bytes of the bodies of responses, after decompression, over all attempts.
        public let bytesReceived: Int
    }
}

/// One call and those who observe it. It counts until the call has ended.
final class ObservedCall: Sendable {
    private struct Counts {
        var attempts = 0
        var rows = 0
        var bytesSent = 0
        var bytesReceived = 0
        var isOver = false
    }

    /// The steps of the observers for the attempts of the call.
    let middleware: [DataAPI.Middleware]
    private let observations: [DataAPI.CallObservation]
    private let publishesOneValue: Bool
    private let now: @Sendable () -> NIODeadline
    private let begun: NIODeadline
    private let counts = NIOLockedValueBox(Counts())

    /// `nil` if no observer is interested in the call.
    init?(
        _ call: DataAPI.CallDescription,
        _ observers: [DataAPI.CallObserver],
        publishesOneValue: Bool,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        observations = observers.compactMap { $0.begin(call) }
        guard !observations.isEmpty else { return nil }
        middleware = observations.compactMap(\.middleware)
        self.publishesOneValue = publishesOneValue
        self.now = now
        begun = now()
    }

    /// An attempt begins.
    func began(_ request: HTTPRequest) {
        counts.withLockedValue {
            $0.attempts += 1
            $0.bytesSent += request.body.length ?? 0
        }
    }

    func received(_ part: HTTPResponsePart) {
        guard case .body(let bytes) = part else { return }
        counts.withLockedValue { $0.bytesReceived += bytes.readableBytes }
    }

    /// A single value is the end of its call.
    func published(rows: Int) {
        if publishesOneValue {
            end(rows: rows)
        } else if rows > 0 {
            counts.withLockedValue { $0.rows += rows }
        }
    }

    func ended(_ failure: FMRest.APIError?) { end(failure) }

    func cancelled() { end(isCancelled: true) }

    private func end(_ failure: FMRest.APIError? = nil, isCancelled: Bool = false, rows: Int = 0) {
        let counts: Counts? = counts.withLockedValue { counts in
            guard !counts.isOver else { return nil }
            counts.isOver = true
            counts.rows += rows
            return counts
        }
        guard let counts else { return }
        let end = DataAPI.CallEnd(
            failure: failure,
            isCancelled: isCancelled,
            duration: .nanoseconds((now() - begun).nanoseconds),
            attempts: counts.attempts,
            rowCount: counts.rows,
            bytesSent: counts.bytesSent,
            bytesReceived: counts.bytesReceived
        )
        for observation in observations { observation.ended(end) }
    }
}
