import CustomDump
import Testing

@testable import FMSandbox

/// The sign-in page, requested as a browser would.
@Suite(.timeLimit(.minutes(15))) struct OAuthPageTests {
    private static let user = Solution.Sample.oauthUser

    /// Requests the page's address, and returns the request id and the page's path.
    private func begin(_ bench: Bench, returnURL: String?) async throws -> (id: String, path: String) {
        let answer = try await bench.send(
            "GET",
            "/oauth/getoauthurl?trackingID=t%201&provider=Sandbox&address=127.0.0.1&X-FMS-OAuth-AuthType=2",
            headers: returnURL.map { [("X-FMS-Return-URL", $0)] } ?? []
        )
        let id = try #require(answer.header("x-fms-request-id"))
        let path = try #require(answer.text.firstRange(of: "/oauth/signin").map { answer.text[$0.lowerBound...] })
        return (id, String(path))
    }

    /// Follows the only link of the page.
    private func follow(_ path: String, _ bench: Bench) async throws -> Bench.Answer {
        let page = try await bench.send("GET", path)
        #expect(page.status == 200)
        #expect(page.header("content-type") == "text/html; charset=utf-8")
        #expect(page.text.contains(">\(Self.user)</a>"))
        let link = try #require(page.text.split(separator: "href=\"").last?.prefix { $0 != "\"" })
        return try await bench.send("GET", String(link.replacing("&amp;", with: "&")))
    }

    private func login(_ id: String, _ identifier: String, _ bench: Bench) async throws -> Int {
        let headers = [
            ("X-FM-Data-OAuth-Request-Id", id), ("X-FM-Data-OAuth-Identifier", identifier), Bench.json,
        ]
        return try await bench.send("POST", bench.path("sessions"), headers: headers, body: Array("{}".utf8)).status
    }

    @Test(arguments: ["http://localhost:1/back", "http://localhost:1/back?app=a"])
    func theBrowserIsSentBackWithAnIdentifier(_ returnURL: String) async throws {
        try await withBench { (bench: Bench) async throws in
            let (id, path) = try await begin(bench, returnURL: returnURL)
            #expect(path == "/oauth/signin?trackingID=t%201&requestId=\(id)")
            let answer = try await follow(path, bench)
            #expect(answer.status == 302)
            let location = try #require(answer.header("location"))
            let separator = returnURL.contains("?") ? "&" : "?"
            #expect(location.hasPrefix("\(returnURL)\(separator)trackingID=t%201&identifier="))
            let identifier = try #require(location.split(separator: "identifier=").last)
            #expect(try await login(id, String(identifier), bench) == 200)
        }
    }

    @Test func withoutAnAddressToReturnToThePageShowsTheIdentifier() async throws {
        try await withBench(.http) { (bench: Bench) async throws in
            let (id, path) = try await begin(bench, returnURL: nil)
            let answer = try await follow(path, bench)
            #expect(answer.status == 200)
            let identifier = try #require(answer.text.split(separator: "<code>").last?.prefix { $0 != "<" })
            #expect(try await login(id, String(identifier), bench) == 200)
        }
    }

    @Test func strangersDoNotSignIn() async throws {
        try await withBench { (bench: Bench) async throws in
            let (id, path) = try await begin(bench, returnURL: nil)
            #expect(try await bench.send("GET", "\(path)&account=nobody").status == 400)
            #expect(try await bench.send("GET", "\(path)&account=admin").status == 400)
            #expect(try await bench.send("GET", "/oauth/signin?requestId=unknown").status == 400)
            #expect(try await bench.send("GET", "/oauth/signin").status == 400)
            #expect(try await login(id, "nothing", bench) == 401)
        }
    }

    /// Account names from a file are escaped on the page.
    @Test func namesAreTextOnThePage() async throws {
        var solution = Solution.oneTable([.init("A")])
        solution.accounts.append(.init(name: "<b>\"&", password: "", kind: .oauth))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let path = try await begin(bench, returnURL: nil).path
            let page = try await bench.send("GET", path)
            #expect(page.text.contains("account=%3Cb%3E%22%26\">&lt;b&gt;&quot;&amp;</a>"))
        }
    }
}
