import FMHTTP
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

/// The steps before there is a connection: look-up, TCP, proxy, TLS, and each way in which they hang or fail.
@Suite(.timeLimit(.minutes(15)))
struct ConnectTests {
    private typealias Subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>

    /// The place at which an attempt to connect hangs; the origin is chosen so that the client gets there.
    enum Place: CaseIterable, Sendable {
        case lookUp, tcp, proxy, handshake
    }

    /// Calls the body with an origin that hangs at the place until the gate opens, and then answers. TCP hangs for
    /// ever.
    private func withHanging(
        at place: Place,
        connect: Duration?,
        _ body: (HTTPClient, Origin, FaultServer, Gate) async throws -> Void
    ) async throws {
        let gate = Gate()
        var configuration = HTTPClientConfiguration {
            $0.timeouts = HTTPTimeouts(queue: nil, connect: connect)
            $0.tls = TLSOptions(roots: .only([.bytes(Array(TestCertificates.authority.utf8))]))
            $0.plainHTTP = .anywhereUnencrypted
        }
        var options = FaultServer.Options()
        if place == .handshake {
            options = FaultServer.Options(
                tls: try TestCertificates.serverContext(),
                reads: false,
                onAccept: { _ in [.wait(gate), .startReading] }
            )
        }
        let server = try await FaultServer.start(options) { request in
            request.method == .CONNECT ? [.wait(gate), .send("HTTP/1.1 200 OK\r\n\r\n")] : ok("x")
        }
        let silent = try SilentPort()
        let origin: Origin
        switch place {
        case .lookUp:
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: server.port)
            configuration.lookUp = { _, _ in
                gate.blockThread()
                return [address]
            }
            origin = Origin(scheme: .http, host: "fms.invalid", port: server.port)
        case .tcp:
            origin = Origin(scheme: .http, host: "127.0.0.1", port: silent.port)
        case .proxy:
            configuration.proxy = .proxy(HTTPProxy(host: "127.0.0.1", port: server.port))
            origin = Origin(scheme: .http, host: "fms.invalid", port: 1)
        case .handshake:
            origin = Origin(scheme: .https, host: "localhost", port: server.port)
        }
        let client = HTTPClient(configuration: configuration)
        try await body(client, origin, server, gate)
        await client.shutdown(grace: .zero)
        #expect(client.counts == PoolCounts())
        gate.open()
        await server.allConnectionsClosed()
        try await server.stopped()
    }

    // MARK: Timeouts

    @Test(arguments: Place.allCases)
    func whatTakesTooLongIsAConnectTimeout(place: Place) async throws {
        try await withHanging(at: place, connect: .milliseconds(30)) { client, origin, _, _ in
            let error = await client.get(origin).failure
            #expect(error?.code == .connectTimeout)
            #expect(error?.outcome == .notSent)
        }
    }

    /// A request's own limits end its wait, although the client has none.
    @Test(arguments: Place.allCases)
    func theRequestsOwnLimitsHoldMeanwhile(place: Place) async throws {
        try await withHanging(at: place, connect: nil) { client, origin, _, _ in
            for (timeouts, code) in [
                (HTTPTimeouts(queue: .milliseconds(20)), HTTPClientError.Code.queueTimeout),
                (HTTPTimeouts(queue: nil, connect: .milliseconds(20)), .connectTimeout),
                (HTTPTimeouts(total: .milliseconds(20)), .totalTimeout),
            ] {
                let request = HTTPRequest(origin: origin, target: "/", timeouts: timeouts)
                let error = await client.send(request).failure
                #expect(error?.code == code)
                #expect(error?.outcome == .notSent)
            }
        }
    }

    // MARK: Cancelling

    @Test(arguments: Place.allCases)
    func cancellingGivesUpTheWaitAndTheConnectionIsKept(place: Place) async throws {
        try await withHanging(at: place, connect: nil) { client, origin, server, gate in
            let subscriber = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            #expect(client.counts == PoolCounts(connecting: 1, waiting: 1))
            subscriber.cancel()
            #expect(client.counts == PoolCounts(connecting: 1))
            gate.open()
            if place != .tcp {
                await until { client.counts == PoolCounts(idle: 1) }
                #expect(server.requests.allSatisfy { $0.method == .CONNECT })
            }
            #expect(subscriber.history.count == 1)
        }
    }

    // MARK: Shutdown

    /// The shutdown does not wait for attempts that no request needs.
    @Test(arguments: Place.allCases)
    func aShutdownGivesUpWhatIsBeingConnected(place: Place) async throws {
        try await withHanging(at: place, connect: nil) { client, origin, _, _ in
            let subscriber = Subscriber()
            client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
            await client.shutdown(grace: .seconds(3600))
            let error = HTTPClientError(code: .shutdown, outcome: .notSent, origin: origin)
            #expect(await subscriber.completion() == .failure(error))
            #expect(client.counts == PoolCounts())
        }
    }

    // MARK: Addresses

    @Test func anAddressThatRefusesGivesWayToTheNext() async throws {
        let closed = try ClosedPort()
        let server = try await FaultServer.start { _ in ok("x") }
        let addresses = try [closed.port, server.port].map { try SocketAddress(ipAddress: "127.0.0.1", port: $0) }
        var configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.plainHTTP = .anywhereUnencrypted
        }
        configuration.lookUp = { _, _ in addresses }
        let client = HTTPClient(configuration: configuration)
        #expect(await client.get(Origin(scheme: .http, host: "fms.invalid")).value?.text == "x")
        await client.shutdown()
        await server.allConnectionsClosed()
        try await server.stopped()
    }

    // MARK: A server that is down

    /// Each of many requests fails at once, although no limit is set: none waits for a connection that cannot come.
    @Test func aServerThatIsDownIsToldToEveryRequestAtOnce() async throws {
        let closed = try ClosedPort()
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: closed.port)
        let configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.maximumConnectionsPerOrigin = 4
        }
        let client = HTTPClient(configuration: configuration)
        for _ in 0..<3 {
            let errors = await withTaskGroup { group in
                for _ in 0..<100 { group.addTask { await client.get(origin).failure } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.allSatisfy { $0?.code == .connectionRefused && $0?.outcome == .notSent })
        }
        await client.shutdown()
        #expect(client.counts == PoolCounts())
    }

    /// The look-up finds the server once, and then a closed port. That port is held, since a released port might soon
    /// be used by another process.
    private static func findingOnce(_ server: FaultServer, then closed: ClosedPort) -> HTTPClientConfiguration {
        let isFound = NIOLockedValueBox(false)
        var configuration = HTTPClientConfiguration {
            $0.timeouts = .patient
            $0.plainHTTP = .anywhereUnencrypted
        }
        configuration.lookUp = { [port = server.port] _, _ in
            let wasFound = isFound.withLockedValue { isFound in
                defer { isFound = true }
                return isFound
            }
            return [try SocketAddress(ipAddress: "127.0.0.1", port: wasFound ? closed.port : port)]
        }
        return configuration
    }

    /// An idle connection that a write may not use does not make the write wait.
    @Test func aServerThatStoppedListeningIsToldAtOnce() async throws {
        let server = try await FaultServer.start { _ in ok("x") }
        let closed = try ClosedPort()
        let origin = Origin(scheme: .http, host: "fms.invalid")
        var configuration = Self.findingOnce(server, then: closed)
        configuration.maximumRestBeforeUnsafeRequest = .zero
        let client = HTTPClient(configuration: configuration)
        #expect(await client.get(origin).value?.text == "x")
        await until { client.counts == PoolCounts(idle: 1) }
        let error = await client.send(HTTPRequest(method: .POST, origin: origin, target: "/")).failure
        #expect(error?.code == .connectionRefused)
        #expect(error?.outcome == .notSent)
        #expect(await client.get(origin).value?.text == "x", "the idle connection still serves who may take it")
        await client.shutdown()
        await server.allConnectionsClosed()
        try await server.stopped()
    }

    /// While a connection is busy, other requests may wait for it; when their time limit is reached, the error says why
    /// there was no second connection.
    @Test func whoWaitedInVainHearsOfTheFailedAttempts() async throws {
        let closed = try ClosedPort()
        let server = try await FaultServer.start { _ in [] }
        let origin = Origin(scheme: .http, host: "fms.invalid")
        let client = HTTPClient(configuration: Self.findingOnce(server, then: closed))
        let busy = Subscriber()
        client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(busy)
        await server.requestCount(atLeast: 1)
        // On a busy machine the time limit may be reached before an attempt has failed: then try a longer one.
        var error: HTTPClientError?
        for doublings in 0..<16 where error?.underlying == nil {
            let timeouts = HTTPTimeouts(queue: .milliseconds(30 << doublings))
            error = await client.send(HTTPRequest(origin: origin, target: "/", timeouts: timeouts)).failure
            #expect(error?.code == .queueTimeout)
        }
        #expect(error?.underlying?.contains("refused") == true, "\(String(describing: error))")
        busy.cancel()
        await client.shutdown()
        await server.allConnectionsClosed()
        try await server.stopped()
    }
}
