import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

@Suite struct ContainerDownloadStateMachineTests {
    private typealias Machine = ContainerDownloadStateMachine

    private static let server = Origin(scheme: .https, host: "fms.example.com")
    private static let url = "https://fms.example.com/Streaming_SSL/MainDB/AB12.jpg?RCType=EmbeddedRCFileProcessor"
    private static let target = "/Streaming_SSL/MainDB/AB12.jpg?RCType=EmbeddedRCFileProcessor"
    private static let key = "X-FMS-Session-Key=K1; Path=/; Secure"
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func request(
        _ target: String = target,
        origin: Origin = server,
        carriesToken: Bool = true,
        cookies: String? = nil
    ) -> Machine.Request {
        Machine.Request(origin: origin, target: target, carriesToken: carriesToken, cookies: cookies)
    }

    private func machine(
        _ url: String = Self.url,
        allowsForeignOrigins: Bool = false
    ) throws(DataAPI.ContainerError) -> Machine {
        try Machine(url: url, server: Self.server, allowsForeignOrigins: allowsForeignOrigins)
    }

    private func started(
        _ url: String = Self.url,
        allowsForeignOrigins: Bool = false
    ) throws -> (machine: Machine, request: Machine.Request) {
        var machine = try machine(url, allowsForeignOrigins: allowsForeignOrigins)
        let request = machine.started(now: now)
        return (machine, request)
    }

    private func answer(
        _ machine: inout Machine,
        _ status: Int,
        location: String? = nil,
        cookies: String...
    ) -> Machine.HeadAction {
        machine.headReceived(status: status, location: location, setCookies: cookies, now: now)
    }

    @Test func theContentComesAtOnce() throws {
        var (machine, request) = try started()
        expectNoDifference(request, Self.request())
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test(arguments: [
        "https://fms.example.com/other/AB12.jpg?x=1", "https://fms.example.com:443/other/AB12.jpg?x=1",
        "/other/AB12.jpg?x=1", "../../other/AB12.jpg?x=1",
    ])
    func theUsualDance(location: String) throws {
        var (machine, _) = try started()
        expectNoDifference(
            answer(&machine, 302, location: location, cookies: Self.key),
            .send(Self.request("/other/AB12.jpg?x=1", cookies: "X-FMS-Session-Key=K1"))
        )
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test func a401WithACookieIsRepeatedOnceWithIt() throws {
        var (machine, _) = try started()
        expectNoDifference(
            answer(&machine, 401, cookies: Self.key),
            .send(Self.request(cookies: "X-FMS-Session-Key=K1"))
        )
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test func a401WithTheCookieThatWasSentIsNotRepeated() throws {
        var (machine, _) = try started()
        _ = answer(&machine, 401, cookies: Self.key)
        expectNoDifference(answer(&machine, 401, cookies: Self.key), .doubtSession)
    }

    @Test func a401ThenARedirectThenContent() throws {
        var (machine, _) = try started()
        _ = answer(&machine, 401, cookies: Self.key)
        expectNoDifference(
            answer(&machine, 302, location: "/x"),
            .send(Self.request("/x", cookies: "X-FMS-Session-Key=K1"))
        )
        expectNoDifference(answer(&machine, 200), .deliverBody)
    }

    @Test func a401AfterTheDanceRaisesADoubtAboutTheSession() throws {
        var (machine, _) = try started()
        _ = answer(&machine, 302, location: "/x", cookies: Self.key)
        expectNoDifference(answer(&machine, 401), .doubtSession)
    }

    @Test func eachAttemptStartsWithAnEmptyJar() throws {
        let machine = try machine()
        var first = machine
        _ = first.started(now: now)
        _ = answer(&first, 302, location: "/x", cookies: Self.key)
        var second = machine
        expectNoDifference(second.started(now: now), Self.request())
    }

    @Test func aRedirectWithoutACookieRaisesADoubtAboutTheSession() throws {
        var (machine, _) = try started()
        expectNoDifference(answer(&machine, 302, location: "/x"), .doubtSession)
    }

    @Test func aSecondRedirectRaisesADoubtAboutTheSession() throws {
        var (machine, _) = try started()
        _ = answer(&machine, 302, location: "/x", cookies: Self.key)
        expectNoDifference(answer(&machine, 302, location: "/y", cookies: Self.key), .doubtSession)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func everyRedirectCounts(status: Int) throws {
        var (machine, _) = try started()
        expectNoDifference(
            answer(&machine, status, location: "/x", cookies: "k=v"),
            // The cookie's default path is taken from the first URL.
            .send(Self.request("/x"))
        )
    }

    @Test(arguments: [nil, "", "https://fms.example.com\\@evil.com/", "https://a b/", "mailto:x@y"])
    func aRedirectToNowhereFails(location: String?) throws {
        var (machine, _) = try started()
        // An empty Location is a valid reference to the same URL.
        let expected: Machine.HeadAction =
            location == "" ? .send(Self.request(cookies: "X-FMS-Session-Key=K1")) : .fail(.init(.invalidRedirect))
        expectNoDifference(answer(&machine, 302, location: location, cookies: Self.key), expected)
    }

    @Test(arguments: [
        ("https://fms.example.com.evil.com/x", Origin(scheme: .https, host: "fms.example.com.evil.com")),
        ("https://fms.example.com:8443/x", Origin(scheme: .https, host: "fms.example.com", port: 8443)),
        ("//evil.com/x", Origin(scheme: .https, host: "evil.com")),
        ("http://fms.example.com/x", Origin(scheme: .http, host: "fms.example.com")),
    ])
    func nothingGoesToAnotherOrigin(url: String, origin: Origin) throws {
        var (machine, _) = try started()
        expectNoDifference(
            answer(&machine, 302, location: url, cookies: Self.key),
            .fail(.init(.foreignOrigin, origin: "\(origin)"))
        )
        if !url.hasPrefix("//") {
            #expect(throws: DataAPI.ContainerError(.foreignOrigin, origin: "\(origin)")) { try self.machine(url) }
        }
    }

    @Test func anAllowedForeignOriginGetsNeitherTokenNorCookies() throws {
        let foreign = Origin(scheme: .https, host: "cdn.example.net")
        var (machine, _) = try started(allowsForeignOrigins: true)
        expectNoDifference(
            answer(&machine, 302, location: "https://cdn.example.net/x", cookies: Self.key),
            .send(Self.request("/x", origin: foreign, carriesToken: false))
        )
        expectNoDifference(answer(&machine, 401), .fail(.init(.stale)))
        expectNoDifference(
            try started("https://cdn.example.net/x", allowsForeignOrigins: true).request,
            Self.request("/x", origin: foreign, carriesToken: false)
        )
    }

    @Test func aRedirectToAnAllowedForeignOriginNeedsNoCookie() throws {
        let foreign = Origin(scheme: .https, host: "cdn.example.net")
        var (machine, _) = try started(allowsForeignOrigins: true)
        expectNoDifference(
            answer(&machine, 302, location: "https://cdn.example.net/x"),
            .send(Self.request("/x", origin: foreign, carriesToken: false))
        )
        expectNoDifference(answer(&machine, 302, location: "https://cdn.example.net/y"), .fail(.init(.stale)))
        (machine, _) = try started(allowsForeignOrigins: true)
        expectNoDifference(answer(&machine, 302, location: "/x"), .doubtSession)
    }

    @Test func aDetourOverAForeignOriginLosesTheToken() throws {
        var (machine, _) = try started("https://cdn.example.net/x", allowsForeignOrigins: true)
        expectNoDifference(
            answer(&machine, 302, location: Self.url, cookies: "a=b"),
            .send(Self.request(carriesToken: false))
        )
    }

    @Test func aRedirectFromTLSToPlainHTTPIsNotFollowed() throws {
        var (machine, _) = try started(allowsForeignOrigins: true)
        expectNoDifference(
            answer(&machine, 302, location: "http://fms.example.com/x", cookies: "a=b"),
            .fail(.init(.insecureRedirect))
        )
    }

    @Test(arguments: [
        "https://fms.example.com/fmi/data/vLatest/databases/d/layouts/l/script/DeleteAll",
        "https://fms.example.com/x/../FMI/data",
        "https://fms.example.com/%66mi/data", "https://fms.example.com//fmi/data",
        "https://fms.example.com/%FF%2Ffmi/data",
        "https://fms.example.com/fmi/%CC%81/../data", "https://fms.example.com/x%5CFMI%5Cdata",
    ])
    func aFieldsTextMustNotCallTheAPI(url: String) throws {
        #expect(throws: DataAPI.ContainerError(.notAURL)) { try self.machine(url) }
        var (machine, _) = try started()
        expectNoDifference(answer(&machine, 302, location: url, cookies: Self.key), .fail(.init(.notAURL)))
    }

    @Test(arguments: ["", "winch.pdf", "file:/Hauler/winch.pdf", "ftp://fms.example.com/x", "/Streaming_SSL/x"])
    func whatIsNoURLFailsBeforeAnythingIsSent(text: String) throws {
        #expect(throws: DataAPI.ContainerError(.notAURL)) { try self.machine(text) }
    }

    @Test(arguments: [400, 403, 404, 500, 502, 503, 206, 304])
    func anyOtherStatusFailsWithIt(status: Int) throws {
        var (machine, _) = try started()
        expectNoDifference(answer(&machine, status), .fail(.init(.unavailable, httpStatus: status)))
    }

    /// The exchange ends after at most three requests, whatever the server answers.
    @Test func noServerCanKeepTheExchangeGoing() throws {
        var generator = SeededRandom(seed: 5)
        for _ in 0..<2000 {
            var (machine, _) = try started()
            var requests = 1
            exchange: while true {
                let status = [200, 302, 307, 401, 401, 302].randomElement(using: &generator) ?? 200
                let cookies = Bool.random(using: &generator) ? ["k=\(generator.next()); Path=/"] : []
                switch machine.headReceived(status: status, location: "/x", setCookies: cookies, now: now) {
                case .send: requests += 1
                case .deliverBody, .doubtSession, .fail: break exchange
                }
            }
            #expect(requests <= 3)
        }
    }
}
