import CustomDump
import FMTestSupport
import NIOCore
import NIOSSL
import Testing

@testable import FMDataFleet

/// An encrypted connection to a real store.
@Suite(.needsStore, .timeLimit(.minutes(5)))
struct StoreTLSTests {
    private func withProxy(
        _ pair: TestCertificates.Pair,
        _ body: (_ proxy: StoreProxy, _ tls: TLSConfiguration) async throws -> Void
    ) async throws {
        try await StoreServer.run { store in
            let proxy = try await StoreProxy.start(before: store, tls: TestCertificates.serverContext(pair))
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.authority.utf8)))
            try await body(proxy, tls)
            await proxy.stop()
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func aStoreWithItsOwnNameIsUsed(host: String) async throws {
        try await withProxy(TestCertificates.server) { proxy, tls in
            let client = StoreClient.make(at: StoreAddress(host: host, port: proxy.port, tls: tls))
            let answer = try await client.send { _ in RESPCommand("ECHO", "text") }
            expectNoDifference(answer.string, "text")
            await client.shutdown()
        }
    }

    @Test(.thorough) func aStoreWithAnotherNameIsRefused() async throws {
        try await withProxy(TestCertificates.wrongName) { proxy, tls in
            let address = StoreAddress(host: "localhost", port: proxy.port, tls: tls)
            let client = StoreClient.make(at: address, connection: .seconds(2))
            await #expect(throws: StoreError.unreachable) { try await client.send { _ in RESPCommand("PING") } }
            await client.shutdown()
        }
    }

    @Test(.thorough) func aStoreThatNobodyVouchesForIsRefused() async throws {
        try await withProxy(TestCertificates.server) { proxy, _ in
            let tls = TLSConfiguration.makeClientConfiguration()
            let address = StoreAddress(host: "localhost", port: proxy.port, tls: tls)
            let client = StoreClient.make(at: address, connection: .seconds(2))
            await #expect(throws: StoreError.unreachable) { try await client.send { _ in RESPCommand("PING") } }
            await client.shutdown()
        }
    }
}
