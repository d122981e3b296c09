import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

/// The time limit of an attempt to connect, which requests with different limits share.
struct ConnectionFactoryTests {
    private static func limit(configured: Duration?, wanted: TimeAmount?) -> TimeAmount? {
        var configuration = HTTPClientConfiguration()
        configuration.timeouts.connect = configured
        let limits = ExchangeLimits(connect: wanted, firstByte: nil, idle: nil, deadline: nil, maximumBodyBytes: 0)
        return ConnectionFactory(configuration).limit(wantedBy: limits)
    }

    @Test func anAttemptTakesTheLongerOfTheTwoLimits() {
        #expect(Self.limit(configured: .seconds(10), wanted: .seconds(1)) == .seconds(10))
        #expect(Self.limit(configured: .seconds(10), wanted: .seconds(60)) == .seconds(60))
        #expect(Self.limit(configured: .seconds(10), wanted: nil) == nil)
        #expect(Self.limit(configured: nil, wanted: .seconds(1)) == nil)
    }

    @Test func anAttemptOfNobodyTakesTheConfiguredTime() {
        #expect(ConnectionFactory(HTTPClientConfiguration()).limit(wantedBy: nil) == .seconds(10))
    }

    /// The request's own limit is longer than the configured one, so the attempt gets it.
    @Test(.timeLimit(.minutes(15))) func aRequestMayWaitLongerForItsConnection() async throws {
        var configuration = HTTPClientConfiguration()
        configuration.timeouts.connect = .milliseconds(1)
        let client = HTTPClient(configuration: configuration)
        let silent = try SilentPort()
        let origin = Origin(scheme: .http, host: "127.0.0.1", port: silent.port)
        let limits = HTTPTimeouts(queue: .milliseconds(50), connect: nil)
        let patient = await client.parts(HTTPRequest(origin: origin, target: "/", timeouts: limits)).outcome()
        #expect(patient.failure?.code == .queueTimeout)
        await client.shutdown(grace: .zero)
    }
}
