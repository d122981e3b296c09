import Foundation
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct ContainerTests {
    private func download(
        _ url: JSONValue,
        _ bench: Bench,
        headers: [(String, String)] = []
    ) async throws -> Bench.Answer {
        let url = try #require(url.string.flatMap(URL.init(string:)))
        let target = url.path + "?" + (url.query ?? "")
        let bearer = ("Authorization", "Bearer \(bench.token ?? "")")
        let first = try await bench.send("GET", target, headers: [bearer])
        guard first.status == 302 else { return first }
        let cookie = try #require(first.header("set-cookie")?.split(separator: ";").first).description
        return try await bench.send("GET", target, headers: [bearer, ("Cookie", "other=1; \(cookie)")] + headers)
    }

    @Test(arguments: Venue.allCases)
    func contentIsKeptByteForByte(_ venue: Venue) async throws {
        let bytes =
            (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } + Array("\r\n--XyZ-not\r\n--".utf8)
        try await withBench(venue) { (bench: Bench) async throws in
            _ = try await bench.upload(
                "layouts/Contacts/records/1/containers/Photo/1?modId=0",
                filename: "naïve.bin",
                type: "",
                bytes
            )
            let url = try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            let answer = try await download(url, bench)
            #expect(answer.status == 200)
            #expect(answer.body == bytes)
            #expect(url.string?.contains(".bin") == false)
        }
    }

    /// RFC 9110 §14: the range requests of a client that resumes a download after its connection broke.
    @Test func aPartOfTheContentIsHandedOut() async throws {
        try await withBench { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1", Array("0123456789".utf8))
            let url = try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            let whole = try await download(url, bench)
            let tag = try #require(whole.header("etag"))
            #expect(whole.header("accept-ranges") == "bytes")
            for (range, condition, status, content, description) in [
                ("bytes=4-", nil, 206, "456789", "bytes 4-9/10"),
                ("bytes=4-", tag, 206, "456789", "bytes 4-9/10"),
                ("bytes=0-0", nil, 206, "0", "bytes 0-0/10"),
                ("bytes=8-99", nil, 206, "89", "bytes 8-9/10"),
                ("bytes=-3", nil, 206, "789", "bytes 7-9/10"),
                ("bytes=-99", nil, 206, "0123456789", "bytes 0-9/10"),
                ("bytes=10-", nil, 416, "", "bytes */10"),
                ("bytes=-0", nil, 416, "", "bytes */10"),
                ("bytes=4-", "\"other\"", 200, "0123456789", nil),
                ("bytes=4-2", nil, 200, "0123456789", nil),
                ("bytes=1-2,4-5", nil, 200, "0123456789", nil),
                ("bytes=-", nil, 200, "0123456789", nil),
                ("lines=1-2", nil, 200, "0123456789", nil),
            ] as [(String, String?, Int, String, String?)] {
                let condition = condition.map { [("If-Range", $0)] } ?? []
                let answer = try await download(url, bench, headers: [("Range", range)] + condition)
                #expect(answer.status == status, "\(range)")
                #expect(String(decoding: answer.body, as: UTF8.self) == content, "\(range)")
                #expect(answer.header("content-range") == description, "\(range)")
                #expect(answer.header("etag") == tag)
            }
        }
    }

    @Test func uploadsAreChecked() async throws {
        try await withBench { (bench: Bench) async throws in
            let target = "layouts/Contacts/records/1/containers/Photo/1"
            #expect(try await bench.upload("\(target)?modId=5", [1]).code == "306")
            #expect(try await bench.upload("\(target)?nope=5", [1]).code == "960")
            #expect(try await bench.upload("layouts/Contacts/records/9/containers/Photo/1", [1]).code == "101")
            #expect(try await bench.upload("layouts/Contacts/records/1/containers/Nope/1", [1]).code == "102")
            #expect(try await bench.upload("layouts/Contacts/records/1/containers/Name/1", [1]).code == "408")
            #expect(try await bench.upload("layouts/Contacts/records/1/containers/Photo/2", [1]).code == "111")
            #expect(try await bench.upload("layouts/Contacts/records/1/containers/Photo/x", [1]).code == "111")
            #expect(try await bench.upload(target, filename: nil, [1]).code == "960")
            #expect(try await bench.upload(target, []).response == ["modId": "1"])
            let bearer = ("Authorization", "Bearer \(try #require(bench.token))")
            let json = try await bench.send(
                "POST",
                bench.path(target),
                headers: [bearer, Bench.json],
                body: Array("{}".utf8)
            )
            #expect(json.status == 415)
            let multipart = ("Content-Type", "multipart/form-data; boundary=XyZ")
            let cut = try await bench.send(
                "POST",
                bench.path(target),
                headers: [bearer, multipart],
                body: Array("--XyZ\r\n".utf8)
            )
            #expect(cut.code == "960")
        }
    }

    @Test func emptyingAndReplacing() async throws {
        try await withBench { (bench: Bench) async throws in
            let target = "layouts/Contacts/records/1/containers/Photo/1"
            _ = try await bench.upload(target, [1])
            let old = try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            _ = try await bench.upload(target, [2])
            let new = try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            #expect(old != new)
            #expect(try await download(new, bench).body == [2])
            #expect(
                try await bench.patch("layouts/Contacts/records/1", ["fieldData": ["Photo": ""]]).response == [
                    "modId": "3"
                ]
            )
            #expect(try await bench.get("layouts/Contacts/records/1").fields["Photo"] == "")
        }
    }

    @Test func urlsDieWithTheirSession() async throws {
        try await withBench { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1", [1])
            let url = try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            let other = try await bench.loggedIn()
            #expect(try await download(url, other).status == 401)
            #expect(try await download(url, bench).status == 200)
            _ = try await bench.delete("sessions/\(try #require(bench.token))")
            #expect(try await download(url, bench).status == 401)
            #expect(try await download("http://127.0.0.1/Streaming_SSL/MainDB/00?RCType=x", bench).status == 401)
        }
    }

    /// A client that logs out after each call downloads afterwards; such hosts allow that.
    @Test(arguments: [(Sandbox.ServerVersion.v22, Sandbox.ContainerStreaming.open), (.v18, .authenticated)])
    func openURLsOutliveTheirSession(
        _ version: Sandbox.ServerVersion,
        _ streaming: Sandbox.ContainerStreaming
    ) async throws {
        func configure(_ configuration: inout Sandbox.Configuration) {
            configuration.serverVersion = version
            configuration.containerStreaming = streaming
        }
        try await withBench(configure: configure) { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1", [1, 2])
            func url(_ bench: Bench) async throws -> JSONValue {
                try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            }
            let url = try await url(bench)
            _ = try await bench.delete("sessions/\(try #require(bench.token))")
            bench.clock.advance(by: .seconds(15 * 60))
            #expect(try await download(url, bench).body == [1, 2])
            bench.clock.advance(by: .seconds(1))
            #expect(try await download(url, bench).status == 401)
            // A URL of a session is valid until the session ends; a restart ends both.
            let other = try await bench.loggedIn()
            let second = try await other.get("layouts/Contacts/records/1").fields["Photo"]
            bench.clock.advance(by: .seconds(15 * 60))
            #expect(try await download(second, other).status == 200)
            bench.clock.advance(by: .seconds(15 * 60))
            #expect(try await download(second, other).status == 200)
            bench.engine.closeAllSessions(isRestart: true)
            #expect(try await download(second, other).status == 401)
            #expect(bench.engine.withState { $0.tickets.isEmpty })
        }
    }

    @Test(
        arguments: [
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--\r\n", 1
            ),
            (
                "multipart/form-data; boundary=\"b\"",
                "preamble\r\n--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b--", 1
            ),
            ("multipart/form-data", "--b\r\n\r\n\r\n--b--", nil), ("multipart/form-data; boundary=b", "", nil),
            ("multipart/form-data; boundary=b", "--b--", nil),
            ("multipart/form-data; boundary=b", "--b\r\nno colon\r\n\r\nx\r\n--b--", nil),
            ("multipart/form-data; boundary=b", "--b\r\n--b\r\n--b--", nil),
        ]
    )
    func multipartIsReadOrRefused(_ type: String, _ body: String, _ count: Int?) {
        #expect(Multipart.parts(of: Array(body.utf8), contentType: type)?.count == count)
    }

    @Test func fileNamesMayHoldAnything() {
        for (disposition, expected) in [
            (#"form-data; name="upload"; filename="C:\dir\a b.jpg""#, #"C:\dir\a b.jpg"#),
            (#"form-data; name="upload"; filename="say \"hi\".txt""#, #"say "hi".txt"#),
            (#"form-data; name="upload"; filename="x"; filename*=UTF-8''na%C3%AFve.txt"#, "naïve.txt"),
            (#"form-data; name="upload"; filename=plain.txt"#, "plain.txt"),
        ] {
            let body = "--b\r\nContent-Disposition: \(disposition)\r\n\r\nx\r\n--b--\r\n"
            let parts = Multipart.parts(of: Array(body.utf8), contentType: "multipart/form-data; boundary=b")
            #expect(parts?.first?.filename == expected)
        }
    }

    /// The setting for authenticated streaming came with version 19; before it, the URL and its cookie were enough.
    @Test(arguments: Sandbox.ServerVersion.allCases)
    func olderServersAskForNoToken(_ version: Sandbox.ServerVersion) async throws {
        try await withBench(configure: { $0.serverVersion = version }) { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1", [1])
            let value = try await bench.get("layouts/Contacts/records/1").fields["Photo"].string
            let url = try #require(value.flatMap(URL.init(string:)))
            let answer = try await bench.send("GET", "\(url.path)?\(url.query ?? "")")
            #expect(answer.status == (version < .v19 ? 302 : 401))
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func anUploadIsAPartNamedUpload(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let target = "layouts/Contacts/records/1/containers/Photo/1"
            let answer = try await bench.upload(target, [1, 2, 3])
            #expect(answer.status == 200)
            #expect(answer.response == ["modId": "1"])
            let refused = try await bench.upload(target, part: "file", [1, 2, 3])
            #expect(refused.status == 400)
            #expect(refused.code == "960")
            #expect(refused.message == "Upload payload must contain a part named 'upload'.")
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases, [true, false])
    func aContainerIsServedAfterARedirectWithACookie(_ venue: Venue, _ isAuthenticated: Bool) async throws {
        let streaming: Sandbox.ContainerStreaming = isAuthenticated ? .authenticated : .open
        try await withBench(venue, configure: { $0.containerStreaming = streaming }) { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1", [1, 2, 3])
            let value = try await bench.get("layouts/Contacts/records/1").fields["Photo"]
            let url = try #require(value.string.flatMap(URL.init(string:)))
            let target = url.path + "?" + (url.query ?? "")
            #expect(url.path.hasSuffix(".jpg"))
            let bearer = isAuthenticated ? [("Authorization", "Bearer \(try #require(bench.token))")] : []
            let first = try await bench.send("GET", target, headers: bearer)
            #expect(first.status == 302)
            #expect(first.header("location") == target)
            let cookie = try #require(first.header("set-cookie")?.split(separator: ";").first).description
            let second = try await bench.send("GET", target, headers: bearer + [("Cookie", cookie)])
            #expect(second.status == 200)
            #expect(second.body == [1, 2, 3])
            #expect(second.header("content-type") == "image/jpeg")
            let withoutBearer = try await bench.send("GET", target)
            #expect(withoutBearer.status == (isAuthenticated ? 401 : 302))
            let wrongCookie = try await bench.send("GET", target, headers: bearer + [("Cookie", "X-FMS-Session-Key=0")])
            #expect(wrongCookie.status == 401)
        }
    }

    @Test(.tags(.openQuestion)) func oddUploadsAndLargeOnes() async throws {
        let target = "layouts/Contacts/records/1/containers/Photo/1"
        try await withBench { (bench: Bench) async throws in
            #expect(try await bench.upload(target, []).code == "0")
            let nameless = try await bench.upload(target, filename: nil, [1])
            #expect(nameless.status == 400)
            #expect(nameless.code == "960")
        }
        try await withBench(.http, configure: { $0.maximumBodyBytes = 1000 }) { (bench: Bench) async throws in
            let large = try await bench.upload(target, Array(repeating: 1, count: 1001))
            #expect(large.status == 413)
        }
    }
}
