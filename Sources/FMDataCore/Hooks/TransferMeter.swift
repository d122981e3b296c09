import FMHTTP
public import Foundation
public import Logging
import NIOConcurrencyHelpers
import OpenCombine

extension DataAPI {
    /// Counts the bytes that a host sends, by database: some licences limit them for a year, together with those of the
    /// OData API, and a host beyond the limit answers with 953.
    ///
    /// ```swift
    /// let meter = DataAPI.TransferMeter(limit: 24_000_000_000)
    /// var config = DataAPI.Config()
    /// config.middleware.append(meter.middleware)
    /// let counted = DataAPI.Server(host: "fms.example.com", config: config)
    ///     .addDatabase("World", credentials: Credentials(user: "admin", password: secret))
    /// _ = try await counted.getScriptNames().firstValue()
    /// print(meter.reading.total > 100)                            // true
    /// ```
    ///
    /// The program keeps the ``Reading`` between two runs, by `Codable`, and continues it with the next meter. One
    /// meter may count for several servers that share a purchase agreement.
    ///
    /// Counted are the bodies of answers as they arrive here, after decompression. Claris does not say whether a host
    /// counts before or after it compresses, so this is the upper bound; the Admin Console shows the host's own figure,
    /// which other programs add to. Contents of containers, which are no answers of the Data API, are counted apart.
    ///
    /// Source: Claris FileMaker Server help, "About the OData API limit".
    public final class TransferMeter: Sendable {
        /// What a meter has counted.
        public struct Reading: Codable, Hashable, Sendable {
            /// When the counting began: at the last reset of the limit, if the program restarts the meter then.
            public var since: Date
            /// The bytes of answers, by the name of the database; those to calls of a server, and to the calls for
            /// webhooks, under the empty name.
            public var answers: [String: Int] = [:]
            /// The bytes of the contents of containers.
            public var containers = 0

            /// A reading of nothing.
            public init(since: Date = Date()) { self.since = since }

            /// The bytes of all answers, without contents of containers.
            public var total: Int { answers.values.reduce(0, +) }
        }

        private struct State {
            var reading: Reading
            /// How many of the thresholds were passed.
            var passed = 0
        }

        /// The limit in bytes; `nil` for none.
        public let limit: Int?
        private let thresholds: [Double]
        private let passed: @Sendable (Double, Reading) -> Void
        private let state: NIOLockedValueBox<State>

        /// Creates a meter.
        ///
        /// - Parameters:
        ///   - limit: the limit in bytes, as the Admin Console shows it.
        ///   - reading: what was counted before; the default is nothing.
        ///   - thresholds: the parts of the limit that are reported when they are passed, each once. Those that the
        ///     given reading has passed are not reported again.
        ///   - logger: where they are reported: "data transfer has reached a part of its limit" as a notice, from the
        ///     whole limit on as a warning, with `percent`, `bytes` and `limit`.
        ///   - onThreshold: called when one is passed, with the threshold, on the thread that received the answer. It
        ///     must not block.
        public init(
            limit: Int? = nil,
            continuing reading: Reading = Reading(),
            thresholds: [Double] = [0.5, 0.8, 0.9, 1],
            logger: Logger? = nil,
            onThreshold: (@Sendable (Double, Reading) -> Void)? = nil
        ) {
            self.limit = limit
            let thresholds = thresholds.sorted()
            self.thresholds = thresholds
            passed = { threshold, reading in
                logger?.log(
                    level: threshold < 1 ? .notice : .warning,
                    "data transfer has reached a part of its limit",
                    metadata: [
                        LogKey.percent: "\(Int((threshold * 100).rounded()))", LogKey.bytes: "\(reading.total)",
                        LogKey.limit: "\(limit ?? 0)",
                    ]
                )
                onThreshold?(threshold, reading)
            }
            state = NIOLockedValueBox(
                State(reading: reading, passed: Self.passed(thresholds, reading.total, of: limit))
            )
        }

        /// What was counted so far.
        public var reading: Reading { state.withLockedValue(\.reading) }

        /// Begins to count anew, when the limit is reset. Returns what was counted before.
        @discardableResult
        public func restart(at date: Date = Date()) -> Reading {
            state.withLockedValue { state in
                defer { state = State(reading: Reading(since: date)) }
                return state.reading
            }
        }

        /// The step that counts: for ``Config/middleware``.
        public var middleware: Middleware {
            Middleware { request, next in
                next(request).handleEvents(receiveOutput: { part in
                    if part.byteCount > 0 { self.count(part.byteCount, of: request) }
                })
                .eraseToAnyPublisher()
            }
        }

        private func count(_ bytes: Int, of request: OutgoingRequest) {
            let (reached, reading) = state.withLockedValue { state -> (ArraySlice<Double>, Reading) in
                if request.operation == .downloadContainer {
                    state.reading.containers += bytes
                    return ([], state.reading)
                }
                state.reading.answers[request.database ?? "", default: 0] += bytes
                let before = state.passed
                state.passed = max(before, Self.passed(thresholds, state.reading.total, of: limit))
                return (thresholds[before..<state.passed], state.reading)
            }
            for threshold in reached { passed(threshold, reading) }
        }

        /// How many of the thresholds a number of bytes has reached.
        private static func passed(_ thresholds: [Double], _ bytes: Int, of limit: Int?) -> Int {
            guard let limit else { return 0 }
            return thresholds.count { Double(bytes) >= $0 * Double(limit) }
        }
    }
}
