import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import NIOPosix
import OpenCombine

/// One walk: a client with a few connections, a server that answers by `RandomWalk+Answers`, and a number of requests.
enum RandomWalk {
    struct Plan: Sendable, CustomStringConvertible {
        /// 20,000 requests in eight walks, or as many per walk as the environment says.
        static let all: [Plan] = (1...8).map { seed in
            // A handshake costs as much as many requests.
            let isEncrypted = seed.isMultiple(of: 4)
            let asked = ProcessInfo.processInfo.environment["FMDATA_WALK"].flatMap { Int($0) }
            return Plan(
                seed: UInt64(seed),
                requestCount: asked ?? (isEncrypted ? 500 : 3_200),
                isEncrypted: isEncrypted,
                answersEarly: seed == 3,
                delivery: seed.isMultiple(of: 2) ? .eventLoop : .background
            )
        }

        var seed: UInt64
        var requestCount: Int
        var isEncrypted: Bool
        var answersEarly = false
        var delivery = HTTPClientConfiguration.Delivery.background
        var shutdown: Shutdown?

        var description: String {
            "seed \(seed), \(requestCount) requests\(isEncrypted ? ", TLS" : "")\(answersEarly ? ", early" : ""), \(delivery)"
        }
    }

    struct Shutdown: Sendable {
        var afterRequests: Int
        var grace: Duration
    }

    /// How many requests run at the same time.
    private static let width = 16

    /// Returns what was recorded when all requests have ended, and the timers that the client left.
    static func run(_ plan: Plan) async throws -> (Ledger, leftTimers: [Int]) {
        let ledger = Locked(Ledger())
        var options = FaultServer.Options(
            tls: plan.isEncrypted ? try TestCertificates.serverContext() : nil,
            answersEarly: plan.answersEarly,
            onAccept: { welcome(connection: $0, plan) }
        )
        options.remembers = false
        let server = try await FaultServer.start(options) { request in
            let attempt = ledger.count(request)
            return answer(request, attempt: attempt, plan)
        }
        let closed = try ClosedPort()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let client = HTTPClient(configuration: configuration(plan), eventLoopGroup: group)
        let requests = Requests(
            plan: plan,
            client: client,
            origin: Origin(scheme: plan.isEncrypted ? .https : .http, host: "localhost", port: server.port),
            closedOrigin: Origin(scheme: .http, host: "127.0.0.1", port: closed.port),
            ledger: ledger
        )
        await withTaskGroup(of: Void.self) { tasks in
            for number in 0..<plan.requestCount {
                if number >= width { await tasks.next() }
                if let shutdown = plan.shutdown, number == shutdown.afterRequests {
                    tasks.addTask { await client.shutdown(grace: shutdown.grace) }
                }
                tasks.addTask { await requests.run(number) }
            }
        }
        // Cancelled requests may still be releasing their connections.
        await until { client.counts.leased + client.counts.connecting + client.counts.waiting == 0 }
        await until { ledger.value.subscriptions.allSatisfy { $0.object == nil } }
        await client.shutdown(grace: .zero)
        ledger.note(client.counts == PoolCounts(), "connections are left: \(client.counts)")
        await server.allConnectionsClosed()
        try await server.stopped()
        // A timer that was cancelled on another thread is removed from its loop a moment later.
        var timers = try await group.timers()
        for _ in 0..<20 where !timers.isEmpty { timers = try await group.timers() }
        try await group.shutdownGracefully()
        return (ledger.value, timers)
    }

    private static func configuration(_ plan: Plan) -> HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration {
            $0.timeouts = HTTPTimeouts(firstByte: .milliseconds(100), idle: .milliseconds(100))
            $0.maximumConnectionsPerOrigin = 6
            $0.delivery = plan.delivery
        }
        if plan.isEncrypted {
            configuration.tls.roots = .only([.bytes(Array(TestCertificates.authority.utf8))])
        }
        return configuration
    }

    /// The records of both sides. Requests are identified by their targets.
    struct Ledger: Sendable {
        /// The number of executions of each write, by the server.
        var executions: [String: Int] = [:]
        /// The number of requests that ended without being cancelled.
        var ended = 0
        /// Writes by their ends. `answered`: an error after the server had begun to answer.
        var acknowledged: Set<String> = []
        var answered: Set<String> = []
        var unknown: Set<String> = []
        var notSent: Set<String> = []
        /// All requests that were cancelled.
        var cancelled: Set<String> = []
        /// The number of completions of each request.
        var completions: [String: Int] = [:]
        var codes: [String: Int] = [:]
        var problems: [String] = []
        var subscriptions: [WeakObject] = []
        fileprivate var attempts: [String: Int] = [:]

        var summary: String {
            """
            \(ended) ended, \(cancelled.count) cancelled; writes: \(acknowledged.count) acknowledged, \
            \(answered.count) answered, \(unknown.count) unknown, \(notSent.count) not sent; \
            \(codes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
            """
        }
    }

    struct WeakObject: @unchecked Sendable {
        // Sendable because it is only ever compared with nil.
        weak var object: AnyObject?
    }
}

extension Locked<RandomWalk.Ledger> {
    func note(_ holds: Bool, _ problem: @autoclosure () -> String) {
        if !holds { change { $0.problems.append(problem()) } }
    }

    /// A request has reached the server, which executes a write. Returns how many times it came before.
    fileprivate func count(_ request: FaultServer.Request) -> Int {
        var before = 0
        change { ledger in
            before = ledger.attempts[request.target, default: 0]
            ledger.attempts[request.target] = before + 1
            if request.method != .GET { ledger.executions[request.target, default: 0] += 1 }
        }
        return before
    }
}
