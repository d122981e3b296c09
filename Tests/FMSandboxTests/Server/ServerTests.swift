import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite struct ServerTests {
    private func client(_ sandbox: Sandbox) async throws -> RawHTTPClient {
        try await RawHTTPClient.connect(host: sandbox.host, port: sandbox.port)
    }

    @Test func itSaysWhereItIs() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(3600)))
        #expect(sandbox.scheme == "http")
        #expect(sandbox.authority == "127.0.0.1:\(sandbox.port)")
        #expect(sandbox.url == "http://127.0.0.1:\(sandbox.port)")
        await sandbox.stop()
        await sandbox.stop()
        sandbox.stopAndWait()
        await #expect(throws: (any Error).self) { try await self.client(sandbox) }
    }

    @Test func aTakenPortIsAnError() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(3600)))
        await #expect(throws: (any Error).self) {
            try await Sandbox.start(configuration: .init(port: sandbox.port, keepAlive: .seconds(3600)))
        }
        await sandbox.stop()
    }

    @Test func idleConnectionsAreClosed() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .milliseconds(20)))
        let client = try await client(sandbox)
        try await client.closed()
        await sandbox.stop()
    }

    @Test func aConnectionServesSoManyRequests() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(3600), requestsPerConnection: 2))
        let client = try await client(sandbox)
        let first = try await client.send("GET", "/fmi/data/v1/productInfo")
        #expect(first["keep-alive"] == "timeout=3600, max=1")
        let second = try await client.send("GET", "/fmi/data/v1/productInfo")
        #expect(second["connection"] == "close")
        try await client.closed()
        await sandbox.stop()
    }

    @Test func closeIsHonoured() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(3600)))
        let client = try await client(sandbox)
        let answer = try await client.send("GET", "/fmi/data/v1/productInfo", headers: [("Connection", "close")])
        #expect(answer.status == 200)
        #expect(answer["connection"] == "close")
        try await client.closed()
        await sandbox.stop()
    }

    @Test func largeBodiesAreRefused() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(3600), maximumBodyBytes: 1000))
        let client = try await client(sandbox)
        let answer = try await client.send(
            "POST",
            "/fmi/data/v1/databases/World/sessions",
            body: Array(repeating: 0x20, count: 1001)
        )
        #expect(answer.status == 413)
        try await client.closed()
        await sandbox.stop()
    }

    @Test func aHeadRequestGetsNoBody() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(keepAlive: .seconds(3600)))
        let client = try await client(sandbox)
        let head = try await client.send("HEAD", "/fmi/data/v1/productInfo")
        #expect(head.status == 405)
        #expect(head.body.isEmpty)
        #expect(try await client.send("GET", "/fmi/data/v1/productInfo").status == 200)
        #expect(try await client.send("OPTIONS", "/fmi/data/v1/productInfo").status == 405)
        await sandbox.stop()
    }

    @Test func stoppingInterruptsWhatWaits() async throws {
        let clock = ManualClock()
        let sandbox = try await Sandbox.start(
            configuration: .init(latency: .seconds(60), keepAlive: .seconds(3600), clock: clock)
        )
        let client = try await client(sandbox)
        let answer = Task { try await client.send("GET", "/fmi/data/v1/productInfo") }
        await clock.waitForSleepers()
        await sandbox.stop()
        await #expect(throws: (any Error).self) { try await answer.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func latencyHoldsAnswersBackOnTheClock() async throws {
        let clock = ManualClock()
        let sandbox = try await Sandbox.start(
            configuration: .init(latency: .seconds(2), keepAlive: .seconds(3600), clock: clock)
        )
        let client = try await client(sandbox)
        async let answer = client.send("GET", "/fmi/data/v1/productInfo")
        await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        #expect(try await answer.status == 200)
        await sandbox.stop()
    }

    @Test func loggedPathsHideTokens() {
        #expect(
            "\(LoggedPath("/fmi/data/v1/databases/World/sessions/abc123"))" == "/fmi/data/v1/databases/World/sessions/…"
        )
        #expect("\(LoggedPath("/Streaming_SSL/MainDB/ABC.jpg"))" == "/Streaming_SSL/MainDB/…")
        #expect("\(LoggedPath("/fmi/data/v1/databases/World/layouts"))" == "/fmi/data/v1/databases/World/layouts")
    }

    @Test func certificatesNeedTheAuthority() async throws {
        let sandbox = try await Sandbox.start(configuration: .init(tls: true, keepAlive: .seconds(3600)))
        #expect(sandbox.url.hasPrefix("https://"))
        let trusting = try await RawHTTPClient.connect(
            host: "127.0.0.1",
            port: sandbox.port,
            certificateAuthority: Sandbox.certificateAuthorityFile
        )
        #expect(try await trusting.send("GET", "/fmi/data/v1/productInfo").status == 200)
        await sandbox.stop()
    }
}
