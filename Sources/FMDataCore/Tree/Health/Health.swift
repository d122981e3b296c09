public import Foundation
import NIOConcurrencyHelpers
import NIOCore
public import OpenCombine

extension DataAPI {
    /// What a program knows of its databases without asking the host: a snapshot, for the readiness check of a service.
    ///
    ///     if server.health.isReady { … }
    ///
    /// ``Server/health`` is about all databases that the server object has, ``Database/health`` about one.
    public struct Health: Hashable, Sendable {
        /// When the host last answered a request, with success or with an error of FileMaker; `nil` if it has not yet.
        public var lastAnswer: Date?
        /// When a request last failed because no answer of a Data API came: no connection, no certificate, a time
        /// limit, a gateway's page. `nil` if none has.
        public var lastFailure: Date?
        /// The kind of that failure.
        public var failure: FMRest.APIError.Code?
        /// The number of databases that this is about.
        public var databases = 0
        /// The names of those whose account the host has locked for a time (214).
        public var lockedOut: [String] = []
        /// The names of those whose credentials the host has refused; they are not sent again.
        public var refused: [String] = []
        /// The names of those for which the host had no room at the last login (812, 956, 1638), while no session is
        /// open.
        public var withoutSession: [String] = []
        /// The number of requests that wait for a session.
        public var waiting = 0
        /// Whether the server object was shut down.
        public var isShutDown = false

        /// The health of nothing that was used yet, for tests and doubles.
        public init() {}

        /// Whether nothing speaks against sending requests: the last request was answered, and at least one database
        /// can be used. Before the first request it is `true`.
        public var isReady: Bool {
            if isShutDown { return false }
            if let lastFailure, lastAnswer.map({ $0 < lastFailure }) ?? true { return false }
            return databases == 0 || lockedOut.count + refused.count + withoutSession.count < databases
        }
    }
}

extension DataAPI.Health: CustomStringConvertible {
    /// The facts in a few words.
    public var description: String {
        var facts: [String] = []
        if isShutDown { facts.append("shut down") }
        if let failure, lastFailure.map({ last in lastAnswer.map { $0 < last } ?? true }) == true {
            facts.append("the last request failed: \(failure)")
        }
        for (what, names) in [("locked out", lockedOut), ("refused", refused), ("without a session", withoutSession)]
        where !names.isEmpty {
            facts.append("\(what): \(names.map { "\"\($0)\"" }.joined(separator: ", "))")
        }
        if waiting > 0 { facts.append("\(waiting) waiting") }
        return (isReady ? "ready" : "not ready") + facts.map { "; \($0)" }.joined()
    }
}

extension DataAPI.Server {
    /// What is known of the host and of the databases of this object, without a request.
    ///
    /// A service answers its readiness check with ``DataAPI/Health/isReady``, and its liveness check without asking
    /// anything. ``probe(isolation:)`` makes a request first, at most once a minute.
    public var health: DataAPI.Health { health(of: databases) }

    /// Asks the host whether it answers, if it was not asked in the last minute, and publishes the ``health`` then.
    ///
    /// ```swift
    /// let probe = try await server.probe().firstValue()
    /// print(probe)                                                // ready
    /// ```
    ///
    /// Does not fail when the host does not answer: the value says so. The request is the one for the product
    /// information; it opens no session. It waits as long as a call does: give it shorter time limits
    /// (``DataAPI/Calling/timeouts(_:)``) than those of the check.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func probe(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Health, FMRest.APIError> {
        OnDemandPublisher {
            self.exchanges.turns.probing(
                self.perform { .productInfo() }.map { _ in () }.eraseToAnyPublisher(),
                now: self.time.now()
            ) { self.health }
        }
        .delivered(on: isolation, by: self)
    }

    fileprivate func health(of databases: [DataAPI.Database]) -> DataAPI.Health {
        var health = DataAPI.Health()
        exchanges.tell(&health, time)
        health.isShutDown = pools.withLockedValue { $0.isClosed }
        health.databases = databases.count
        for database in databases {
            let pool = database.pool
            health.waiting += pool.status.waiting
            switch database.identity.standingRefusal {
            case let refusal? where refusal.fileMakerCode == 214: health.lockedOut.append(database.name)
            case .some: health.refused.append(database.name)
            case nil: if pool.isShutOut { health.withoutSession.append(database.name) }
            }
        }
        return health
    }
}

extension DataAPI.Database {
    /// What is known of the host and of this database, without a request.
    public var health: DataAPI.Health { server.health(of: [self]) }

    private var probeTurns: ProbeTurns { attachments.value { ProbeTurns() } }

    /// Asks the host whether this database can be used, if it was not asked in the last minute, and publishes the
    /// ``health`` then.
    ///
    /// Does what ``ping(isolation:)`` does, and does not fail when that fails: the value says so.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func probe(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<DataAPI.Health, FMRest.APIError> {
        OnDemandPublisher { self.probeTurns.probing(self.check(), now: self.server.time.now()) { self.health } }
            .delivered(on: isolation, by: server)
    }

    /// Asks the host whether this database can be used, and fails with what is wrong: no connection, a certificate,
    /// the password (212), a locked account (214), no room for a session.
    ///
    /// ```swift
    /// let time = try await database.timeouts { $0.total = .seconds(20) }.ping().firstValue()
    /// print(time < .seconds(20))                                  // true
    /// ```
    ///
    /// Publishes how long it took: the validation of a session, after a login if need be; with a key the list of the
    /// scripts' names. ``validateSession(isolation:)`` publishes `false` where this fails because of the credentials.
    ///
    /// Source: Claris Data API guide, "Validate session", `GET /validateSession`. FileMaker Server 19 and later.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func ping(
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<Duration, FMRest.APIError> {
        OnDemandPublisher {
            let now = self.server.time.now
            let start = now()
            return self.check().map { _ in .nanoseconds((now() - start).nanoseconds) }.eraseToAnyPublisher()
        }
        .delivered(on: isolation, by: self)
    }
}
