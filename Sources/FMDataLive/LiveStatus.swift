public import FMDataCore
import FMDataRecords
public import Foundation

extension DataAPI {
    /// What a live query is doing at the moment.
    ///
    ///     people.live().status.sink { status in
    ///         if status.kind == .failing, let error = status.error { … }
    ///     }
    public struct LiveStatus: Sendable {
        /// The kinds of activity. More may be added: a `switch` over them needs a `default`.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The name of the kind.
            public let description: String

            private init(_ description: String) {
                self.description = description
            }

            /// There are no subscribers.
            public static let idle = Kind("idle")
            /// A poll has been under way ``LiveStatus/since`` that time, and waits for what ``LiveStatus/awaited``
            /// says. While it awaits an answer, ``LiveStatus/until`` is the time limit, after which it is repeated as
            /// after any failure. While it awaits a session or a keeper, `until` is `nil`: it waits as long as
            /// necessary.
            public static let polling = Kind("polling")
            /// It waits for the next poll, ``LiveStatus/until`` that time.
            public static let waiting = Kind("waiting")
            /// It waits for the poll rate limit: other live queries of the same server go first.
            public static let throttled = Kind("throttled")
            /// No subscriber wants values: the next poll comes with the next demand.
            public static let paused = Kind("paused")
            /// Polls have been failing ``LiveStatus/since`` that time. ``LiveStatus/error`` is the last error; the next
            /// attempt is made at ``LiveStatus/until``.
            public static let failing = Kind("failing")
            /// It has failed permanently, with ``LiveStatus/error``.
            public static let ended = Kind("ended")
        }

        /// What a poll waits for. More may be added: a `switch` over it needs a `default`.
        public struct Awaited: Hashable, Sendable, CustomStringConvertible {
            /// The name of what it waits for.
            public let description: String

            private init(_ description: String) {
                self.description = description
            }

            /// A session: all are in use by calls of the program, which go first.
            public static let session = Awaited("session")
            /// An answer of the host. The limit for its first byte is a twelfth of the limit for the program's calls,
            /// which is 10 seconds of 120 (``DataAPI/Timeouts``, `firstByte`; also 10 seconds if that is `nil`). The
            /// limit for its end is three times that, or four times the slowest answer of the last accepted poll if
            /// that is longer. Both double each time they were too short. The time starts anew with each answer, so a
            /// poll of any number of records may take as long as it makes progress.
            public static let answer = Awaited("answer")
            /// The ``DataAPI/CopyKeeper`` of a copy, which was asked what the copy has.
            public static let keeper = Awaited("keeper")
        }

        /// What it is doing.
        public var kind: Kind
        /// Since when it has been polling or failing; `nil` for other kinds.
        public var since: Date?
        /// Until when it waits: for the answer, for the next poll, for the next attempt; `nil` for other kinds.
        public var until: Date?
        /// What a poll under way waits for; `nil` for other kinds.
        public var awaited: Awaited?
        /// The last error of a query that is failing or has ended; `nil` for other kinds.
        public var error: FMRest.APIError?

        /// Makes a value, for tests and doubles too; see the properties for its parts.
        public init(
            _ kind: Kind,
            since: Date? = nil,
            until: Date? = nil,
            awaited: Awaited? = nil,
            error: FMRest.APIError? = nil
        ) {
            self.kind = kind
            self.since = since
            self.until = until
            self.awaited = awaited
            self.error = error
        }
    }
}

extension DataAPI.LiveStatus: CustomStringConvertible {
    /// The kind and its details.
    public var description: String {
        var parts: [String] = []
        if let awaited { parts.append("awaits: \(awaited)") }
        if let since { parts.append("since: \(since)") }
        if let until { parts.append("until: \(until)") }
        if let error { parts.append("\(error)") }
        return parts.isEmpty ? "\(kind)" : "\(kind)(\(parts.joined(separator: ", ")))"
    }
}
