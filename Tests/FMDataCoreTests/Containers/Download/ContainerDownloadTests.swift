import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// The requests that download a container's content, against a scripted host that imitates old and new servers and
/// hostile ones.
@Suite(.timeLimit(.minutes(15))) struct ContainerDownloadTests {
    private static let content = "picture"
    private static let picture = [FaultServer.Step].response(
        200,
        ["Content-Type": "image/jpeg", "Content-Disposition": "attachment; filename=\"bow.jpg\""],
        content
    )

    private static func download(
        _ reference: DataAPI.ContainerReference,
        from database: DataAPI.Database
    ) async -> Result<DataAPI.ContainerContent, FMRest.APIError> {
        await database.download(reference).toMemory().awaitSingleResult()
    }

    // MARK: Redirects and cookies

    @Test(arguments: ["relative", "absolute"])
    func theRedirectIsFollowedWithItsCookieAndTheToken(location: String) async throws {
        let host = try await ScriptedHost.start { request in
            guard request.hasSession else { return .response(401) }
            let base =
                location == "relative"
                ? "" : "http://127.0.0.1:\(request.headers.first(name: "Host")?.split(separator: ":").last ?? "")"
            return request.cookie == "X-FMS-Session-Key=K1"
                ? Self.picture : .redirect(to: base + request.target)
        }
        defer { host.server.stop() }
        let database = host.database

        let content = try await Self.download(host.url(), from: database).get()
        expectNoDifference(
            content,
            DataAPI.ContainerContent(data: Data(Self.content.utf8), fileName: "bow.jpg", mimeType: "image/jpeg")
        )
        expectNoDifference(host.downloads.map(\.token), ["T1", "T1"])
        expectNoDifference(host.downloads.map(\.cookie), [nil, "X-FMS-Session-Key=K1"])
        expectNoDifference(host.downloads.map { $0.headers["Accept-Encoding"] }, [["identity"], ["identity"]])
        _ = try await database.logOut().firstValue()
        #expect(host.openSessions == 0)
    }

    @Test func a401WithACookieIsRepeatedWithIt() async throws {
        let host = try await ScriptedHost.start { request in
            request.cookie == nil
                ? .response(401, ["Set-Cookie": "X-FMS-Session-Key=K1; Path=/"])
                : Self.picture
        }
        defer { host.server.stop() }
        let content = try await Self.download(host.url(), from: host.database).get()
        #expect(content.data == Data(Self.content.utf8))
        #expect(host.logIns.count == 1)
    }

    /// A cookie jar that downloads share would send the cookie of one to the other.
    @Test(.tags(.earlierClients)) func eachDownloadHasItsOwnJar() async throws {
        let host = try await ScriptedHost.start { request in
            let key = request.target.split(separator: "/").last ?? ""
            return request.cookie == "k=\(key)"
                ? .response(200, [:], String(key))
                : .redirect(to: request.target, cookie: "k=\(key); Path=/")
        }
        defer { host.server.stop() }
        let database = host.database
        for key in ["A", "B", "A"] {
            let content = try await Self.download(host.url("/Streaming_SSL/\(key)"), from: database).get()
            #expect(content.data == Data(key.utf8))
        }
        expectNoDifference(host.downloads.map(\.cookie), [nil, "k=A", nil, "k=B", nil, "k=A"])
    }

    @Test func aLongBodyOfARedirectIsNotReadToItsEnd() async throws {
        let host = try await ScriptedHost.start { request in
            guard request.cookie == nil else { return Self.picture }
            return [
                .send(
                    FaultServer.head(
                        302,
                        ["Location": request.target, "Set-Cookie": "k=1; Path=/"],
                        length: 1 << 40
                    )
                ),
                .sendZeros(1 << 40),
            ]
        }
        defer { host.server.stop() }
        let content = try await Self.download(host.url(), from: host.database).get()
        #expect(content.data == Data(Self.content.utf8))
    }

    @Test func theBodyOfARedirectIsReadAndTheConnectionKept() async throws {
        let host = try await ScriptedHost.start { request in
            request.cookie == nil
                ? .response(
                    302,
                    ["Location": request.target, "Set-Cookie": "k=1; Path=/"],
                    "moved"
                )
                : Self.picture
        }
        defer { host.server.stop() }
        _ = try await Self.download(host.url(), from: host.database).get()
        #expect(host.server.acceptedCount == 1)
    }

    // MARK: Sessions

    @Test func contentWhoseSessionDiedIsAskedForOnceMoreWithAFreshOne() async throws {
        let host = try await ScriptedHost.start { request in
            guard request.hasSession else { return .response(401) }
            return request.cookie == nil ? .redirect(to: request.target) : Self.picture
        }
        defer { host.server.stop() }
        let database = host.database
        _ = try await Self.download(host.url(), from: database).get()
        host.forgetSessions()

        let content = try await Self.download(host.url(), from: database).get()
        #expect(content.data == Data(Self.content.utf8))
        expectNoDifference(host.downloads.map(\.token), ["T1", "T1", "T1", "T2", "T2"])
        #expect(host.logIns.count == 2)
    }

    /// The content belongs to the session T1, or to no session of the pool (T9). The free session that was used last,
    /// T2, is tried first.
    @Test(arguments: ["T1", "T9"])
    func contentOfAnotherSessionIsAskedForWithItsToken(owner: String) async throws {
        let calls = Locked(0)
        let host = try await ScriptedHost.start { request in
            if request.target.hasPrefix("/Streaming_SSL") {
                if request.token != owner { return .response(401) }
                return request.cookie == nil ? .redirect(to: request.target) : Self.picture
            }
            // The first call is held until the second one has come in a session of its own.
            calls.change { $0 += 1 }
            return calls.value == 1 ? [] : .json(#"{"layouts":[]}"#)
        }
        defer { host.server.stop() }
        let database = host.database
        let held = TrackingSubscriber<[DataAPI.Database.LayoutListItem], FMRest.APIError>()
        database.getLayoutNames().subscribe(held)
        await until { calls.value == 1 }
        _ = try await database.getLayoutNames().firstValue()
        held.cancel()
        expectNoDifference(database.sessionStatus.sessions, 2)

        let result = await Self.download(host.url(), from: database)
        if owner == "T1" {
            expectNoDifference(try result.get().data, Data(Self.content.utf8))
            expectNoDifference(host.downloads.map(\.token), ["T2", "T1", "T1"])
        } else {
            expectNoDifference(result.error?.containerError?.code, .stale)
            expectNoDifference(host.downloads.map(\.token), ["T2", "T1"])
        }
        expectNoDifference(host.logIns.count, 2)
        _ = try await database.logOut().firstValue()
    }

    @Test func aStaleURLCostsNoSession() async throws {
        let host = try await ScriptedHost.start { _ in .response(401) }
        defer { host.server.stop() }
        let database = host.database
        for _ in 1...2 {
            let result = await Self.download(host.url(), from: database)
            #expect(result.error?.containerError?.code == .stale)
            #expect(result.error?.code == .container)
            #expect(result.error?.isRetryable == false)
        }
        #expect(host.logIns.count == 1)
        #expect(host.openSessions == 1)
    }

    @Test func aServerThatRefusesEveryTokenIsAskedTwiceAtMost() async throws {
        let host = try await FaultServer.start { request in
            request.method == .POST
                ? .json("{}", ["X-FM-Data-Access-Token": "T"]) : .invalidToken
        }
        defer { host.stop() }
        let database = DataAPI.Server(host: "http://127.0.0.1:\(host.port)")
            .addDatabase("d", credentials: Credentials(user: "u", password: "p"))
        let result = await Self.download(.url("http://127.0.0.1:\(host.port)/Streaming_SSL/x"), from: database)
        #expect(result.error?.code == .tokensRefused)
        #expect(host.requests.count { $0.target.hasPrefix("/Streaming_SSL") } == 2)
    }

    @Test func theSessionIsFreeWhileTheContentFlows() async throws {
        let host = try await ScriptedHost.start(client: { $0.sessions.maximumSessions = 1 }) { request in
            request.target.hasPrefix("/Streaming_SSL")
                ? [.send(FaultServer.head(200, length: 1 << 30)), .sendZeros(1 << 30)]
                : .json(#"{"layouts":[{"name":"L"}]}"#)
        }
        defer { host.server.stop() }
        let database = host.database
        let subscriber = TrackingSubscriber<DataAPI.ContainerPart, FMRest.APIError>(initialDemand: .max(2))
        database.download(host.url()).parts.subscribe(subscriber)
        await subscriber.valueCount(atLeast: 2)

        // The pool has one session: this call would wait forever if the download still held it.
        let layouts = try await database.getLayoutNames().firstValue()
        #expect(layouts.flatMap(\.allLayouts).map(\.name) == ["L"])
        subscriber.cancel()
    }

    @Test func inAPinnedSessionALostOneIsNotReplaced() async throws {
        let host = try await ScriptedHost.start { call in
            call.hasSession ? Self.picture : .response(401)
        }
        defer { host.server.stop() }
        let database = host.database
        let url = host.url()
        let content = try await database.withSessionPublisher { $0.download(url).toMemory() }.firstValue()
        #expect(content.data == Data(Self.content.utf8))

        let lost = await database.withSessionPublisher { pinned in
            pinned.download(url).toMemory()
                .handleEvents(receiveOutput: { _ in host.forgetSessions() })
                .flatMap { _ in pinned.download(url).toMemory() }
                .eraseToAnyPublisher()
        }
        .awaitSingleResult()
        #expect(lost.error?.code == .sessionLost)
    }

    // MARK: Where the token is sent

    @Test(
        .tags(.earlierClients),
        arguments: [
            "http://127.0.0.1.evil.example:{port}/Streaming_SSL/x", "http://127.0.0.1@evil.example/x",
            "http://localhost:{port}/x",
            "https://127.0.0.1:{port}/x", "http://127.0.0.1:1/x",
            "http://127.0.0.1:{port}/fmi/data/v1/databases/Harbor/layouts/l/script/Delete",
            "picture.jpg", "file:/x.jpg", "ftp://127.0.0.1/x", "",
        ]
    )
    func nothingIsSentForAURLThatIsNotTheServersOwn(text: String) async throws {
        let host = try await ScriptedHost.start { _ in Self.picture }
        defer { host.server.stop() }
        let url = text.replacingOccurrences(of: "{port}", with: "\(host.server.port)")
        let result = await Self.download(DataAPI.ContainerReference(url), from: host.database)
        let error = try #require(result.error)
        #expect(error.code == .container)
        #expect(error.containerError != nil)
        if !url.isEmpty { #expect(!"\(error)".contains(url)) }
        #expect(host.server.requests.isEmpty)
    }

    @Test func aRedirectToAnotherOriginIsNotFollowed() async throws {
        let foreign = try await FaultServer.start { _ in Self.picture }
        defer { foreign.stop() }
        let port = foreign.port
        let host = try await ScriptedHost.start { _ in
            .redirect(to: "http://127.0.0.1:\(port)/Streaming_SSL/x")
        }
        defer { host.server.stop() }
        let result = await Self.download(host.url(), from: host.database)
        #expect(result.error?.containerError?.code == .foreignOrigin)
        #expect(result.error?.containerError?.origin == "http://127.0.0.1:\(port)")
        #expect(foreign.requests.isEmpty)
    }

    @Test func anotherServerThatIsAllowedGetsNeitherTokenNorCookie() async throws {
        let foreign = try await FaultServer.start { _ in Self.picture }
        defer { foreign.stop() }
        let port = foreign.port
        let host = try await ScriptedHost.start(client: { $0.allowsForeignContainers = true }) { _ in
            .redirect(to: "http://127.0.0.1:\(port)/x")
        }
        defer { host.server.stop() }
        let database = host.database
        let content = try await Self.download(host.url(), from: database).get()
        #expect(content.data == Data(Self.content.utf8))
        let request = try #require(foreign.requests.first)
        #expect(request.token == nil)
        // Cookies are bound to hosts, not to ports: this one is sent to the same machine.
        #expect(host.downloads.map(\.token) == ["T1"])
    }

    // MARK: Other answers

    @Test(arguments: [(404, false), (403, false), (503, true)])
    func anotherStatusIsAnErrorWithIt(status: Int, isRetryable: Bool) async throws {
        let host = try await ScriptedHost.start { _ in
            .response(status, ["Content-Type": "text/html"], "<title>no</title>")
        }
        defer { host.server.stop() }
        let result = await Self.download(host.url(), from: host.database)
        #expect(result.error?.containerError?.code == .unavailable)
        #expect(result.error?.httpStatus == status)
        #expect(result.error?.isRetryable == isRetryable)
        #expect(host.logIns.count == 1)
    }

    @Test func aContentThatIsCutOffFails() async throws {
        let host = try await ScriptedHost.start { _ in
            [.send(FaultServer.head(200, length: 100) + "half"), .close]
        }
        defer { host.server.stop() }
        let result = await Self.download(host.url(), from: host.database)
        #expect(result.error?.code == .network)
    }

    @Test func anEmptyContentIsOne() async throws {
        let host = try await ScriptedHost.start { _ in .response(200) }
        defer { host.server.stop() }
        let content = try await Self.download(host.url(), from: host.database).get()
        expectNoDifference(content, DataAPI.ContainerContent(data: Data()))
    }

    @Test func moreThanTheLimitFailsBeforeItArrives() async throws {
        let host = try await ScriptedHost.start { _ in Self.picture }
        defer { host.server.stop() }
        let database = host.database
        let length = Self.content.utf8.count
        let fits = await database.download(host.url()).toMemory(upTo: length).awaitSingleResult()
        #expect(fits.error == nil)
        let tooMuch = await database.download(host.url()).toMemory(upTo: length - 1).awaitSingleResult()
        #expect(tooMuch.error?.code == .responseTooLarge)
    }

    @Test func theLimitHoldsForALengthThatWasNotAnnounced() async throws {
        let host = try await ScriptedHost.start { _ in
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .send("6\r\nabcdef\r\n0\r\n\r\n")]
        }
        defer { host.server.stop() }
        let database = host.database
        let fits = await database.download(host.url()).toMemory(upTo: 6).awaitSingleResult()
        #expect(try fits.get().data == Data("abcdef".utf8))
        let tooMuch = await database.download(host.url()).toMemory(upTo: 5).awaitSingleResult()
        #expect(tooMuch.error?.code == .responseTooLarge)
    }

    @Test func theLimitIsThatOfTheContentNotOfARedirect() async throws {
        let host = try await ScriptedHost.start { request in
            request.cookie == nil
                ? .response(
                    302,
                    ["Location": request.target, "Set-Cookie": "k=1; Path=/"],
                    "moved there"
                )
                : .response(200, [:], "abc")
        }
        defer { host.server.stop() }
        let content = try await host.database.download(host.url()).toMemory(upTo: 3).firstValue()
        #expect(content.data == Data("abc".utf8))
    }

    @Test func aDownloadLargerThanAnyAnswerMayBe() async throws {
        let host = try await ScriptedHost.start(client: { $0.maximumResponseBytes = 1000 }) { _ in
            [.send(FaultServer.head(200, length: 300_000)), .sendZeros(300_000)]
        }
        defer { host.server.stop() }
        let database = host.database
        let content = try await Self.download(host.url(), from: database).get()
        #expect(content.data.count == 300_000)
    }

    /// Neither a container's URL nor the token may reach a log.
    @Test func errorsHoldNoKeyToTheContent() async throws {
        let host = try await ScriptedHost.start { _ in .response(500) }
        defer { host.server.stop() }
        let result = await Self.download(
            host.url("/Streaming_SSL/MainDB/SECRETKEY.jpg?x=SECRETQUERY"),
            from: host.database
        )
        let error = try #require(result.error)
        var text = "\(error) \(error.debugDescriptionForTest)"
        customDump(error, to: &text)
        #expect(!text.contains("SECRET"))
        #expect(!text.contains("T1"))
    }
}

extension FMRest.APIError {
    fileprivate var debugDescriptionForTest: String { String(reflecting: self) }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
