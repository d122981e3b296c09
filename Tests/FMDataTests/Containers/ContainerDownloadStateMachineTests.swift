import CustomDump
import Foundation
import FMTestSupport
import Testing

@testable import FMData

@Suite struct ContainerDownloadStateMachineTests {
    private typealias Machine = ContainerDownloadStateMachine

    private static let server = WebOrigin(scheme: .https, host: "fms.example.com")
    private static let url = "https://fms.example.com/Streaming_SSL/MainDB/AB12.jpg?RCType=EmbeddedRCFileProcessor"
    private static let target = "/Streaming_SSL/MainDB/AB12.jpg?RCType=EmbeddedRCFileProcessor"
    private static let key = "X-FMS-Session-Key=K1; Path=/; Secure"
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func request(
        _ target: String = target,
        origin: WebOrigin = server,
        carriesToken: Bool = true,
        cookies: String? = nil
    ) -> Machine.Request {
        Machine.Request(origin: origin, target: target, carriesToken: carriesToken, cookies: cookies)
    }

    private func started(
        _ url: String = Self.url,
        allowsForeignOrigins: Bool = false
    ) -> (machine: Machine, action: Machine.StartAction) {
        var machine = Machine(url: url, server: Self.server, allowsForeignOrigins: allowsForeignOrigins)
        let action = machine.started(now: now)
        return (machine, action)
    }

    private func answer(
        _ machine: inout Machine,
        _ status: Int,
        location: String? = nil,
        cookies: String...
    ) -> Machine.HeadAction {
        machine.headReceived(status: status, location: location, setCookies: cookies, now: now)
    }

    @Test func theContentComesAtOnce() {
        var (machine, action) = started()
        expectNoDifference(action, .send(Self.request()))
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test(arguments: [
        "https://fms.example.com/other/AB12.jpg?x=1", "https://fms.example.com:443/other/AB12.jpg?x=1",
        "/other/AB12.jpg?x=1", "../../other/AB12.jpg?x=1",
    ])
    func theUsualDance(location: String) {
        var (machine, _) = started()
        expectNoDifference(
            answer(&machine, 302, location: location, cookies: Self.key),
            .send(Self.request("/other/AB12.jpg?x=1", cookies: "X-FMS-Session-Key=K1"))
        )
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test func a401WithACookieIsRepeatedOnceWithIt() {
        var (machine, _) = started()
        expectNoDifference(
            answer(&machine, 401, cookies: Self.key),
            .send(Self.request(cookies: "X-FMS-Session-Key=K1"))
        )
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test func a401WithTheCookieThatWasSentIsNotRepeated() {
        var (machine, _) = started()
        _ = answer(&machine, 401, cookies: Self.key)
        expectNoDifference(answer(&machine, 401, cookies: Self.key), .refreshSession)
    }

    @Test func a401ThenARedirectThenContent() {
        var (machine, _) = started()
        _ = answer(&machine, 401, cookies: Self.key)
        expectNoDifference(
            answer(&machine, 302, location: "/x"),
            .send(Self.request("/x", cookies: "X-FMS-Session-Key=K1"))
        )
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test func anExpiredSessionIsRefreshedOnceAndTheJarStartsEmpty() {
        var (machine, _) = started()
        _ = answer(&machine, 302, location: "/x", cookies: Self.key)
        expectNoDifference(answer(&machine, 401), .refreshSession)
        expectNoDifference(machine.sessionRefreshed(now: now), .send(Self.request()))
        _ = answer(&machine, 302, location: "/x", cookies: "X-FMS-Session-Key=K2; Path=/")
        expectNoDifference(answer(&machine, 401), .fail(.unauthorized))
    }

    @Test func aRedirectWithoutACookieMeansAStaleURL() {
        var (machine, _) = started()
        expectNoDifference(answer(&machine, 302, location: "/x"), .refreshSession)
        _ = machine.sessionRefreshed(now: now)
        expectNoDifference(answer(&machine, 302, location: "/x"), .fail(.stale))
    }

    @Test func aSecondRedirectMeansAStaleURL() {
        var (machine, _) = started()
        _ = answer(&machine, 302, location: "/x", cookies: Self.key)
        expectNoDifference(answer(&machine, 302, location: "/y", cookies: Self.key), .refreshSession)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func everyRedirectCounts(status: Int) {
        var (machine, _) = started()
        expectNoDifference(
            answer(&machine, status, location: "/x", cookies: "k=v"),
            // The cookie's path is that of the first URL.
            .send(Self.request("/x"))
        )
    }

    @Test(arguments: [nil, "", "https://fms.example.com\\@evil.com/", "https://a b/", "mailto:x@y"])
    func aRedirectToNowhereFails(location: String?) {
        var (machine, _) = started()
        // An empty Location is a valid reference to the same URL.
        let expected: Machine.HeadAction =
            location == "" ? .send(Self.request(cookies: "X-FMS-Session-Key=K1")) : .fail(.invalidLocation)
        expectNoDifference(answer(&machine, 302, location: location, cookies: Self.key), expected)
    }

    @Test(arguments: [
        ("https://fms.example.com.evil.com/x", WebOrigin(scheme: .https, host: "fms.example.com.evil.com")),
        ("https://fms.example.com:8443/x", WebOrigin(scheme: .https, host: "fms.example.com", port: 8443)),
        ("//evil.com/x", WebOrigin(scheme: .https, host: "evil.com")),
        ("http://fms.example.com/x", WebOrigin(scheme: .http, host: "fms.example.com")),
    ])
    func nothingGoesToAnotherOrigin(url: String, origin: WebOrigin) {
        var (machine, _) = started()
        expectNoDifference(answer(&machine, 302, location: url, cookies: Self.key), .fail(.foreignOrigin(origin)))
        if !url.hasPrefix("//") { expectNoDifference(started(url).action, .fail(.foreignOrigin(origin))) }
    }

    @Test func anAllowedForeignOriginGetsNeitherTokenNorCookies() {
        let foreign = WebOrigin(scheme: .https, host: "cdn.example.net")
        var (machine, _) = started(allowsForeignOrigins: true)
        expectNoDifference(
            answer(&machine, 302, location: "https://cdn.example.net/x", cookies: Self.key),
            .send(Self.request("/x", origin: foreign, carriesToken: false))
        )
        expectNoDifference(answer(&machine, 401), .fail(.unauthorized))
        expectNoDifference(
            started("https://cdn.example.net/x", allowsForeignOrigins: true).action,
            .send(Self.request("/x", origin: foreign, carriesToken: false))
        )
    }

    @Test func aDetourOverAForeignOriginLosesTheToken() {
        var (machine, _) = started("https://cdn.example.net/x", allowsForeignOrigins: true)
        expectNoDifference(
            answer(&machine, 302, location: Self.url, cookies: "a=b"),
            .send(Self.request(carriesToken: false))
        )
    }

    @Test func aRedirectFromTLSToPlainHTTPIsNotFollowed() {
        var (machine, _) = started(allowsForeignOrigins: true)
        expectNoDifference(
            answer(&machine, 302, location: "http://fms.example.com/x", cookies: "a=b"),
            .fail(.insecureRedirect)
        )
    }

    @Test(arguments: [
        "https://fms.example.com/fmi/data/vLatest/databases/d/layouts/l/script/DeleteAll",
        "https://fms.example.com/x/../FMI/data",
        "https://fms.example.com/%66mi/data", "https://fms.example.com//fmi/data",
        "https://fms.example.com/Streaming_SSL/..%5C..%5Cfmi/data",
        "https://fms.example.com/%FF%2Ffmi/data",
    ])
    func aFieldsTextMustNotCallTheAPI(url: String) throws {
        expectNoDifference(started(url).action, .fail(.notAContainerURL))
        var (machine, _) = started()
        expectNoDifference(answer(&machine, 302, location: url, cookies: Self.key), .fail(.notAContainerURL))
    }

    @Test(arguments: ["", "winch.pdf", "file:/Hauler/winch.pdf", "ftp://fms.example.com/x", "/Streaming_SSL/x"])
    func whatIsNoURLFailsBeforeAnythingIsSent(text: String) {
        expectNoDifference(started(text).action, .fail(.notAContainerURL))
    }

    @Test(arguments: [400, 403, 404, 500, 502, 503, 206, 304])
    func anyOtherStatusFailsWithIt(status: Int) {
        var (machine, _) = started()
        expectNoDifference(answer(&machine, status), .fail(.status(status)))
    }

    /// Whatever a server answers, the exchange ends after six requests.
    @Test func noServerCanKeepTheExchangeGoing() {
        var generator = SeededRandom(seed: 5)
        for _ in 0..<2000 {
            var (machine, _) = started()
            var requests = 1
            exchange: while true {
                let status = [200, 302, 307, 401, 401, 302].randomElement(using: &generator) ?? 200
                let cookies = Bool.random(using: &generator) ? ["k=\(generator.next()); Path=/"] : []
                switch machine.headReceived(status: status, location: "/x", setCookies: cookies, now: now) {
                case .send: requests += 1
                case .refreshSession:
                    _ = machine.sessionRefreshed(now: now)
                    requests += 1
                case .deliverBody, .fail: break exchange
                }
            }
            #expect(requests <= 6)
        }
    }
}
