import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Downloads whose connection breaks, against a host that breaks it where a test wants it.
@Suite(.timeLimit(.minutes(15))) struct ContainerResumptionTests {
    private static let content = "0123456789"

    /// How the host answers the request for the rest.
    enum Rest: Sendable, CaseIterable {
        /// Sends the rest.
        case sent
        /// Sends the rest, but closes the connection again after two bytes.
        case brokenAgain
        /// Does not support ranges, and sends the whole content.
        case ignored
        /// Has other content by then.
        case changed
        /// Sends a different range than the one that was asked for.
        case misplaced
        /// Announces the rest, but ends the response properly one byte early.
        case short
        /// Answers 404.
        case gone
        /// Resets the connection before it answers.
        case reset
    }

    /// Runs a host that closes the connection of its first answer after `count` bytes of the body.
    private func withHost(
        breakingAfter count: Int,
        headers: HTTPHeaders = ["ETag": "\"v1\""],
        rest: Rest = .sent,
        _ body: (ScriptedHost, DataAPI.ContainerDownload) async throws -> Void
    ) async throws {
        let host = try await ScriptedHost.start { request in
            guard let range = request.headers.first(name: "Range") else {
                return [
                    .send(FaultServer.head(200, headers, length: 10) + Self.content.prefix(count)),
                    .close,
                ]
            }
            return Self.answer(rest, to: range, headers)
        }
        let database = host.database
        try await body(host, database.download(host.url()))
        _ = await database.logOut().awaitSingleResult()
        try await host.server.stopped()
    }

    private static func answer(_ rest: Rest, to range: String, _ headers: HTTPHeaders) -> [FaultServer.Step] {
        let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
        let bytes = String(content.dropFirst(start))
        var headers = headers
        headers.add(name: "Content-Range", value: "bytes \(start)-9/10")
        switch rest {
        case .sent: return .response(206, headers, bytes)
        case .brokenAgain:
            let head = FaultServer.head(206, headers, length: bytes.utf8.count)
            return [.send(head + bytes.prefix(2)), .close]
        case .ignored: return .response(200, ["ETag": "\"v1\""], content)
        case .changed: return .response(200, ["ETag": "\"v2\""], "abcdefghij")
        case .misplaced:
            headers.replaceOrAdd(name: "Content-Range", value: "bytes \(start + 1)-9/10")
            return .response(206, headers, String(bytes.dropFirst()))
        case .short: return .response(206, headers, String(bytes.dropLast()))
        case .gone: return .response(404)
        case .reset: return [.reset]
        }
    }

    private func ranges(_ host: ScriptedHost) -> [String?] { host.downloads.map { $0.headers.first(name: "Range") } }

    // MARK: No byte is lost or repeated

    @Test(arguments: 0..<10)
    func aBreakAtEveryByte(count: Int) async throws {
        try await withHost(breakingAfter: count) { host, download in
            let content = try await download.toMemory().firstValue()
            expectNoDifference(String(decoding: content.data, as: UTF8.self), Self.content)
            expectNoDifference(ranges(host), [nil, "bytes=\(count)-"])
            let again = try #require(host.downloads.last)
            expectNoDifference(again.headers["If-Range"], ["\"v1\""])
            expectNoDifference(again.target, host.downloads.first?.target)
            expectNoDifference(again.token, host.downloads.first?.token)
        }
    }

    @Test func breaksInARow() async throws {
        try await withHost(breakingAfter: 3, rest: .brokenAgain) { host, download in
            let content = try await download.toMemory().firstValue()
            expectNoDifference(String(decoding: content.data, as: UTF8.self), Self.content)
            expectNoDifference(ranges(host), [nil, "bytes=3-", "bytes=5-", "bytes=7-", "bytes=9-"])
        }
    }

    @Test func aFile() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/f"
            try await withHost(breakingAfter: 4, rest: .brokenAgain) { _, download in
                let seen = Locked<[Int]>([])
                let file = try await download.toFile(at: path) { progress in
                    seen.change { $0.append(progress.completedBytes) }
                }
                .firstValue()
                expectNoDifference(file.byteCount, 10)
                expectNoDifference(try String(contentsOfFile: path, encoding: .utf8), Self.content)
                expectNoDifference(seen.value, seen.value.sorted())
                expectNoDifference(seen.value.last, 10)
            }
        }
    }

    /// One head, then the bytes: one chunk per unit of demand.
    @Test func aStream() async throws {
        try await withHost(breakingAfter: 4, rest: .brokenAgain) { _, download in
            let subscriber = TrackingSubscriber<DataAPI.ContainerPart, FMRest.APIError>(initialDemand: .max(1))
            download.parts.subscribe(subscriber)
            for count in 1... {
                await subscriber.wait { events in
                    events.contains { if case .completion = $0 { true } else { false } }
                        || events.count { if case .value = $0 { true } else { false } } >= count
                }
                guard subscriber.completionIfAny == nil else { break }
                #expect(subscriber.values.count == count)
                subscriber.request(.max(1))
            }
            expectNoDifference(subscriber.values.first, .head(DataAPI.ContainerHead(byteCount: 10)))
            let bytes = subscriber.values.compactMap(\.bytes).reduce(Data(), +)
            expectNoDifference(String(decoding: bytes, as: UTF8.self), Self.content)
        }
    }

    /// Without demand, the rest is not requested.
    @Test func theRestIsAskedForWhenItIsWanted() async throws {
        try await withHost(breakingAfter: 4) { host, download in
            let subscriber = TrackingSubscriber<DataAPI.ContainerPart, FMRest.APIError>(initialDemand: .max(2))
            download.parts.subscribe(subscriber)
            await subscriber.valueCount(atLeast: 2)
            await host.server.allConnectionsClosed()
            expectNoDifference(ranges(host), [nil])
            subscriber.request(.unlimited)
            await subscriber.completion()
            expectNoDifference(ranges(host), [nil, "bytes=4-"])
            let bytes = subscriber.values.compactMap(\.bytes).reduce(Data(), +)
            expectNoDifference(String(decoding: bytes, as: UTF8.self), Self.content)
        }
    }

    // MARK: Versions are not mixed

    @Test(arguments: [Rest.ignored, .changed, .misplaced, .gone, .reset, .short])
    func whatIsNotTheRestIsNotTaken(rest: Rest) async throws {
        try await withHost(breakingAfter: 4, rest: rest) { host, download in
            let subscriber = TrackingSubscriber<DataAPI.ContainerPart, FMRest.APIError>()
            download.parts.subscribe(subscriber)
            guard case .failure(let error) = await subscriber.completion() else {
                Issue.record("\(rest) was taken")
                return
            }
            let bytes = subscriber.values.compactMap(\.bytes).reduce(Data(), +)
            let text = String(decoding: bytes, as: UTF8.self)
            expectNoDifference(text, rest == .short ? "012345678" : "0123")
            expectNoDifference(error.code, .network)
            #expect(error.isRetryable)
            expectNoDifference(error.request?.method, "GET")
            expectNoDifference(ranges(host), [nil, "bytes=4-"])
            let says = error.reason.hasSuffix("The server did not send the rest of the same content.")
            #expect(says == (rest != .reset && rest != .short))
        }
    }

    @Test(arguments: [[:], ["ETag": "W/\"v1\""], ["ETag": "\"v1\"", "Accept-Ranges": "none"]] as [HTTPHeaders])
    func aHostThatDoesNotNameTheVersionIsNotAsked(headers: HTTPHeaders) async throws {
        try await withHost(breakingAfter: 4, headers: headers) { host, download in
            let error = await download.toMemory().awaitSingleResult().failure
            expectNoDifference(ranges(host), [nil])
            expectNoDifference(error?.code, .network)
            #expect(error?.isRetryable == true)
            // The description names the origin of the download, but not its path, which gives access to the content.
            expectNoDifference(
                error?.description,
                "network: the response was cut off (http://127.0.0.1:\(host.server.port)) "
                    + "(GET http://127.0.0.1:\(host.server.port)/••••)"
            )
        }
    }

    @Test func cancelledWhileTheRestIsAwaited() async throws {
        let asked = Gate()
        let host = try await ScriptedHost.start { request in
            request.headers.contains(name: "Range")
                ? [.open(asked)]
                : [.send(FaultServer.head(200, ["ETag": "\"v1\""], length: 10) + "0123"), .close]
        }
        let database = host.database
        let subscriber = TrackingSubscriber<Data, FMRest.APIError>()
        database.download(host.url()).subscribe(subscriber)
        await asked.wait()
        subscriber.cancel()
        #expect(subscriber.completionIfAny == nil)
        _ = await database.server.shutdown().awaitSingleResult()
        await host.server.allConnectionsClosed()
        try await host.server.stopped()
    }

    // MARK: The sandbox

    @Test func theSandboxSendsTheRest() async throws {
        try await World.run { world in
            let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let file = FMRest.ContainerFile(fileName: "bow.jpg", data: bytes)
            let contacts = world.contacts
            _ = try await contacts.uploadContainer(file, to: "Photo", recordId: 1).firstValue()
            for count in [0, 1, 100_000, 299_999] {
                // Skip the first answer, which is the redirect.
                world.sandbox.inject(
                    Sandbox.FaultRule(.cut(afterBodyBytes: count), on: .downloadContainer, skipping: 1)
                )
                let content = try await contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
                    .firstValue()
                #expect(content.data == bytes)
            }
        }
    }
}
