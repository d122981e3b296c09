import FMHTTP
import FMTestSupport
import Logging
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct LoggingTests {
    @Test func tellsTheStoryWithoutItsSecrets() async throws {
        let lines = LogLines()
        let server = try await FaultServer.start {
            $0.number == 2 ? [.close] : ok("secret-answer", headers: "X: secret\r\n")
        }
        let client = HTTPClient(configuration: .patient, logger: lines.logger(.trace))
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        for _ in 0..<2 {
            let request = HTTPRequest(
                method: .POST,
                origin: origin,
                target: "/sessions/secret-token?secret=query",
                headers: ["Authorization": "Bearer secret"],
                body: .bytes(ByteBuffer(string: "secret-body")),
                isSafeToRepeat: true
            )
            #expect(await client.send(request).value != nil)
        }
        await client.shutdown()
        try await server.stopped()

        #expect(
            lines.messages == [
                "trace sending request", "trace request finished", "trace sending request",
                "trace connection was stale, sending request once more", "trace sending request",
                "trace request finished",
            ]
        )
        #expect(lines.all.allSatisfy { $0.contains("http.method=POST") && $0.contains("origin=\(origin)") })
        #expect(lines.all[1].contains("http.status=200"))
        #expect(lines.all[1].contains(" bytes_in=13") || lines.all[1].contains("|bytes_in=13"))
        #expect(lines.all[4].contains("http.attempt=2"))
        #expect(!lines.all.joined().contains("secret"))
    }

    @Test func failuresAndCancellationsAreTold() async throws {
        let lines = LogLines()
        let server = try await FaultServer.start { $0.target == "/close" ? [.close] : [] }
        let client = HTTPClient(configuration: .patient, logger: lines.logger(.trace))
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        #expect(await client.get(origin, "/close").failure != nil)
        let subscriber = TrackingSubscriber<HTTPResponsePart, HTTPClientError>()
        client.parts(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
        await server.requestCount(atLeast: 2)
        subscriber.cancel()
        #expect(lines.all.count == 4)
        #expect(lines.all[1].contains("request failed"))
        #expect(lines.all[1].contains("error=connectionClosed"))
        #expect(lines.all[3].contains("request cancelled"))
        await client.shutdown(grace: .zero)
        try await server.stopped()
    }

    @Test func aboveTraceNothingIsLogged() async throws {
        let lines = LogLines()
        let server = try await FaultServer.start { _ in ok() }
        let client = HTTPClient(configuration: .patient, logger: lines.logger(.debug))
        _ = await client.get(Origin(scheme: .http, host: "127.0.0.1", port: server.port))
        await client.shutdown()
        try await server.stopped()
        #expect(lines.all == [])
    }
}
