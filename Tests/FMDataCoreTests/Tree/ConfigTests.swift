import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// Every setting of `Config` reaches the HTTP client and the server.
@Suite(.timeLimit(.minutes(15)))
struct ConfigTests {
    @Test func theDefaultsAreThoseOfTheirDocumentation() {
        let http = DataAPI.Config().http
        expectNoDifference(http.maximumConnectionsPerOrigin, 16)
        expectNoDifference(http.maximumBodyBytes, 1 << 30)
        expectNoDifference(http.delivery, .background)
        expectNoDifference(http.plainHTTP, .loopbackOnly)
        expectNoDifference(http.tls, DataAPI.TLS())
        expectNoDifference(http.proxy, .environment)
        expectNoDifference(http.timeouts, DataAPI.Timeouts())
        expectNoDifference(
            http.timeouts,
            DataAPI.Timeouts(
                queue: .seconds(60),
                connect: .seconds(10),
                firstByte: .seconds(120),
                idle: .seconds(60),
                minimumRate: 1000,
                total: nil
            )
        )
    }

    @Test func theDefaultsOfSessionsAreThoseOfTheirDocumentation() {
        let sessions = DataAPI.Config().sessions
        expectNoDifference(sessions.maximumSessions, 8)
        expectNoDifference(sessions.maximumWaiting, 10_000)
        expectNoDifference(sessions.loginAttempts, 3)
        expectNoDifference(
            [
                sessions.waitingDeadline, sessions.fullHostDeadline, sessions.idleExpiry, sessions.idleMargin,
                sessions.idleTrim, sessions.minimumBackOff, sessions.maximumBackOff, sessions.abandonedLogin,
                sessions.shutdownDeadline, sessions.logOutDeadline, sessions.lockOutCoolDown,
            ]
            .map { Int($0.components.seconds) },
            [30, 10, 15 * 60, 30, 60, 1, 60, 5, 25, 10, 5 * 60]
        )
    }

    @Test func theDefaultsOfRetriesAreThoseOfTheirDocumentation() {
        expectNoDifference(
            DataAPI.RetryPolicy(),
            DataAPI.RetryPolicy(
                maximumAttempts: 4,
                firstPause: .milliseconds(250),
                multiplier: 2,
                maximumPause: .seconds(10),
                jitter: 0.5,
                deadline: .seconds(60),
                codes: nil,
                fileMakerCodes: nil,
                budget: nil
            )
        )
    }

    @Test func everySettingArrives() {
        var config = DataAPI.Config()
        config.maximumConnections = 3
        config.maximumResponseBytes = 1000
        config.delivery = .eventLoop
        config.plainHTTP = .anywhereUnencrypted
        config.proxy = .none
        config.tls.roots = .systemAnd(file: "ca.pem")
        config.tls.clientCertificate = .init(chainFile: "chain.pem", keyFile: "key.pem", passphrase: "harbor")
        config.tls.pinnedPublicKeys = ["A", "B", "A"]
        config.tls.minimumVersion = .tls13
        config.tls.dangerouslySkipsVerification = true
        config.timeouts.queue = nil
        config.timeouts.connect = .seconds(1)
        config.timeouts.firstByte = .seconds(2)
        config.timeouts.idle = .seconds(3)
        config.timeouts.minimumRate = 5
        config.timeouts.total = .seconds(4)
        let http = config.http
        expectNoDifference(http.maximumConnectionsPerOrigin, 3)
        expectNoDifference(http.maximumBodyBytes, 1000)
        expectNoDifference(http.delivery, .eventLoop)
        expectNoDifference(http.plainHTTP, .anywhereUnencrypted)
        expectNoDifference(http.proxy, .none)
        expectNoDifference(http.tls, config.tls)
        expectNoDifference(http.timeouts, config.timeouts)
    }

    /// Makes some calls to a server that is not FileMaker's, and returns the requests that it received.
    private static func requests(_ config: DataAPI.Config) async throws -> [FaultServer.Request] {
        let listener = try await FaultServer.start { _ in [.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")] }
        let server = DataAPI.Server(host: "http://127.0.0.1:\(listener.port)", config: config)
        let database = server.addDatabase("Contacts", credentials: Credentials(user: "u", password: "p"))
        _ = await server.getProductInfo().awaitSingleResult()
        _ = await database.getLayoutNames().awaitSingleResult()
        _ = await server.shutdown().awaitSingleResult()
        await listener.allConnectionsClosed()
        try await listener.stopped()
        return listener.requests
    }

    @Test func everyRequestGoesBelowTheRootAndNamesItsClient() async throws {
        var config = DataAPI.Config.patient
        var requests = try await Self.requests(config)
        expectNoDifference(
            requests.map(\.target),
            ["/fmi/data/vLatest/productInfo", "/fmi/data/vLatest/databases/Contacts/sessions"]
        )
        expectNoDifference(requests.map { $0.headers["User-Agent"] }, [["FMData (Swift)"], ["FMData (Swift)"]])

        config.rootPath = "/behind/fmi/data"
        config.version = .v2
        config.userAgent = "invoices/2.1"
        requests = try await Self.requests(config)
        expectNoDifference(
            requests.map(\.target),
            ["/behind/fmi/data/v2/productInfo", "/behind/fmi/data/v2/databases/Contacts/sessions"]
        )
        expectNoDifference(requests.map { $0.headers["User-Agent"] }, [["invoices/2.1"], ["invoices/2.1"]])
    }

    @Test func everyRequestGoesThroughTheProxy() async throws {
        let listener = try await FaultServer.start { _ in [.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")] }
        let proxy = try await TunnelProxy.start(to: listener.port)
        var config = DataAPI.Config.patient
        config.plainHTTP = .anywhereUnencrypted
        config.proxy = .proxy(
            HTTPProxy(host: "127.0.0.1", port: proxy.port, credentials: .init(user: "a", password: "b"))
        )
        let server = DataAPI.Server(host: "http://fms.invalid:8080", config: config)
        let error = await server.getProductInfo().awaitSingleResult().failure
        expectNoDifference(error?.httpStatus, 404)
        expectNoDifference(
            proxy.requests,
            [
                "CONNECT fms.invalid:8080 HTTP/1.1\r\nHost: fms.invalid:8080\r\n"
                    + "Proxy-Authorization: Basic YTpi\r\n\r\n"
            ]
        )
        expectNoDifference(listener.requests.map { $0.headers["Host"] }, [["fms.invalid:8080"]])
        _ = await server.shutdown().awaitSingleResult()
        await listener.allConnectionsClosed()
        try await listener.stopped()
        try await proxy.stopped()
    }

    // MARK: Date formats

    @Test func theFormatIsWhatDateFormatsSayInWhateverOrderThingsAreSet() throws {
        var config = DataAPI.Config()
        config.dateFormats = .iso8601
        config.decoding = DecodingOptions()
        config.decoding.keys = .withoutTable
        config.encoding = EncodingOptions(values: ValueOptions(timeZone: .gmt))
        expectNoDifference(config.dateFormats, .iso8601)
        expectNoDifference(config.decoding.values.format, .iso)
        expectNoDifference(config.encoding.values.format, .iso)
        config.dateFormats = .us
        expectNoDifference(config.decoding.values.format, .us)
        expectNoDifference(config.encoding.values.format, .us)
    }

    @Test func aFormatThatIsGivenInTheOptionsIsAskedFor() throws {
        let german = try ValueFormat(date: "dd.MM.yyyy")
        var config = DataAPI.Config()
        config.decoding.values.format = .iso
        expectNoDifference(config.dateFormats, .iso8601)
        expectNoDifference(config.encoding.values.format, .iso)
        config.encoding = EncodingOptions(values: ValueOptions(format: german))
        expectNoDifference(config.dateFormats, .file(german))
        expectNoDifference(config.decoding.values.format, german)
        config.decoding = DecodingOptions(values: ValueOptions(format: .us))
        expectNoDifference(config.dateFormats, .us)
    }

    @Test func optionsAreEqualWhetherTheDefaultWasGivenOrNot() {
        expectNoDifference(ValueOptions(), ValueOptions(format: .us))
        #expect(Set([ValueOptions(), ValueOptions(format: .us), ValueOptions(format: .iso)]).count == 2)
    }
}
