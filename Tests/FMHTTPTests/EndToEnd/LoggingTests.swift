import FMHTTP
import FMTestSupport
import Logging
import NIOCore
import OpenCombine
import Testing

@Suite(.timeLimit(.minutes(15)))
struct LoggingTests {
    private func logger(_ lines: Locked<[String]>, _ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
        logger.logLevel = level
        return logger
    }

    @Test func tellsTheStoryWithoutItsSecrets() async throws {
        let lines = Locked<[String]>([])
        let server = try await FaultServer.start {
            $0.number == 2 ? [.close] : ok("secret-answer", headers: "X: secret\r\n")
        }
        let client = HTTPClient(logger: logger(lines, .trace))
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

        let messages = lines.value.map { $0.prefix { $0 != "|" } }
        #expect(
            messages == [
                "trace sending request", "debug request finished", "trace sending request",
                "debug connection was stale, sending request once more", "trace sending request",
                "debug request finished",
            ]
        )
        #expect(lines.value.allSatisfy { $0.contains("method=POST") && $0.contains("origin=\(origin)") })
        #expect(lines.value[1].contains("status=200"))
        #expect(lines.value[1].contains("body_bytes=13"))
        #expect(lines.value[4].contains("attempt=2"))
        #expect(!lines.value.joined().contains("secret"))
    }

    @Test func failuresAndCancellationsAreTold() async throws {
        let lines = Locked<[String]>([])
        let server = try await FaultServer.start { $0.target == "/close" ? [.close] : [] }
        let client = HTTPClient(logger: logger(lines, .debug))
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        #expect(await client.get(origin, "/close").failure != nil)
        let subscriber = TrackingSubscriber<HTTPResponse, HTTPClientError>()
        client.response(HTTPRequest(origin: origin, target: "/")).subscribe(subscriber)
        await server.requestCount(atLeast: 2)
        subscriber.cancel()
        #expect(lines.value.count == 2)
        #expect(lines.value[0].contains("request failed"))
        #expect(lines.value[0].contains("error=connectionClosed"))
        #expect(lines.value[1].contains("request cancelled"))
        await client.shutdown(grace: .zero)
        try await server.stopped()
    }

    @Test func aboveDebugNothingIsLogged() async throws {
        let lines = Locked<[String]>([])
        let server = try await FaultServer.start { _ in ok() }
        let client = HTTPClient(logger: logger(lines, .info))
        _ = await client.get(Origin(scheme: .http, host: "127.0.0.1", port: server.port))
        await client.shutdown()
        try await server.stopped()
        #expect(lines.value == [])
    }
}

private struct LineHandler: LogHandler {
    let lines: Locked<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let text = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        lines.change { $0.append("\(event.level) \(event.message)|\(text)") }
    }
}
