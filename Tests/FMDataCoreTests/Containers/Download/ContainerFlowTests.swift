import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// How content is delivered: demand, cancellation, files, progress.
@Suite(.timeLimit(.minutes(15))) struct ContainerFlowTests {
    private typealias Parts = TrackingSubscriber<DataAPI.ContainerPart, FMRest.APIError>

    private static func zeros(_ length: Int) -> [FaultServer.Step] {
        [.send(FaultServer.head(200, length: length)), .sendZeros(length)]
    }

    private static func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    // MARK: Demand

    @Test func nothingIsSentBeforeDemand() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(1) }
        defer { host.server.stop() }
        let subscriber = Parts(initialDemand: .none)
        host.database.download(host.url()).parts.subscribe(subscriber)
        #expect(host.server.acceptedCount == 0)
        subscriber.request(.max(1))
        await subscriber.valueCount(atLeast: 1)
        subscriber.cancel()
    }

    @Test func demandReachesTheSocket() async throws {
        let length = 64 << 20
        let host = try await ScriptedHost.start { _ in Self.zeros(length) }
        defer { host.server.stop() }
        let database = host.database
        let subscriber = Parts(initialDemand: .max(1))
        database.download(host.url()).parts.subscribe(subscriber)
        await subscriber.valueCount(atLeast: 1)
        expectNoDifference(subscriber.values, [.head(DataAPI.ContainerHead(byteCount: length))])
        subscriber.request(.max(2))
        await subscriber.valueCount(atLeast: 3)

        // A whole exchange on another connection gives the server enough time to send more than demand allows, if it
        // could.
        _ = try await database.validateSession().firstValue()
        #expect(subscriber.values.count == 3)
        #expect(host.server.bytesWritten < length / 2)

        subscriber.request(.unlimited)
        #expect(await subscriber.completion().isFinished)
        #expect(subscriber.values.compactMap { $0.bytes?.count }.reduce(0, +) == length)
    }

    @Test func demandFromWithinReceiveIsEnough() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(1_000_000) }
        defer { host.server.stop() }
        let subscriber = Parts(initialDemand: .max(1), demandAfterValue: { _ in .max(1) })
        host.database.download(host.url()).parts.subscribe(subscriber)
        #expect(await subscriber.completion().isFinished)
        #expect(subscriber.values.compactMap { $0.bytes?.count }.reduce(0, +) == 1_000_000)
    }

    @Test func anEmptyContentEndsWithoutFurtherDemand() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(0) }
        defer { host.server.stop() }
        let subscriber = Parts(initialDemand: .max(1))
        host.database.download(host.url()).parts.subscribe(subscriber)
        #expect(await subscriber.completion().isFinished)
        expectNoDifference(subscriber.values, [.head(DataAPI.ContainerHead(byteCount: 0))])
    }

    @Test func asAPublisherItPublishesTheBytesOnly() async throws {
        let host = try await ScriptedHost.start { _ in .response(200, [:], "abc") }
        defer { host.server.stop() }
        let subscriber = TrackingSubscriber<Data, FMRest.APIError>(initialDemand: .max(1))
        host.database.download(host.url()).subscribe(subscriber)
        #expect(await subscriber.completion().isFinished)
        expectNoDifference(subscriber.values, [Data("abc".utf8)])
    }

    @Test func demandFromManyThreadsIsNotLost() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(2_000_000) }
        defer { host.server.stop() }
        let database = host.database
        for _ in 0..<20 {
            let subscriber = Parts(initialDemand: .max(1))
            database.download(host.url()).parts.subscribe(subscriber)
            race(rounds: 100, { subscriber.request(.max(1)) }, { subscriber.request(.max(1)) })
            await subscriber.valueCount(atLeast: 1)
            subscriber.request(.unlimited)
            #expect(await subscriber.completion().isFinished)
            #expect(subscriber.values.compactMap { $0.bytes?.count }.reduce(0, +) == 2_000_000)
        }
    }

    // MARK: Cancelling

    @Test func cancellingEndsTheExchangeOnTheWire() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(1 << 30) }
        defer { host.server.stop() }
        let database = host.database
        let subscriber = Parts(initialDemand: .max(3))
        database.download(host.url()).parts.subscribe(subscriber)
        await subscriber.valueCount(atLeast: 3)
        subscriber.cancel()
        await host.server.allConnectionsClosed()
        #expect(subscriber.completionIfAny == nil)
    }

    @Test func cancellingWhileTheContentIsSoughtGivesTheSessionBack() async throws {
        let reached = Gate()
        let host = try await ScriptedHost.start { request in
            request.target.hasPrefix("/Streaming_SSL") ? [.open(reached)] : .json(#"{"layouts":[]}"#)
        }
        defer { host.server.stop() }
        let database = host.database
        let subscriber = Parts()
        database.download(host.url()).parts.subscribe(subscriber)
        await reached.wait()
        subscriber.cancel()
        _ = try await database.getLayoutNames().firstValue()
        #expect(subscriber.values.isEmpty)
        #expect(host.logIns.count == 1)
    }

    @Test func aContainerThatNobodyTakesLetsGoOfItsConnection() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(1 << 30) }
        defer { host.server.stop() }
        let database = host.database
        do {
            let opened = try await database.openContainer { _, _ in
                Result { try database.server.downloadMachine(for: host.url()) }
                    .publisher.mapError(FMRest.APIError.init(wrapping:)).eraseToAnyPublisher()
            }.firstValue()
            expectNoDifference(opened.head.headers["Content-Length"], ["\(1 << 30)"])
        }
        await host.server.allConnectionsClosed()
    }

    @Test func aSubscriptionIsReleased() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(10) }
        defer { host.server.stop() }
        weak var finished: Parts?
        weak var cancelled: Parts?
        do {
            let first = Parts()
            finished = first
            host.database.download(host.url()).parts.subscribe(first)
            await first.completion()
            let second = Parts(initialDemand: .max(1))
            cancelled = second
            host.database.download(host.url()).parts.subscribe(second)
            await second.valueCount(atLeast: 1)
            second.cancel()
        }
        await until { finished == nil && cancelled == nil }
        #expect(finished == nil && cancelled == nil)
    }

    // MARK: Files

    @Test func aFileAppearsWhenItIsWhole() async throws {
        let gate = Gate()
        let host = try await ScriptedHost.start { _ in
            [
                .send(FaultServer.head(200, ["Content-Disposition": "attachment; filename=x.jpg"], length: 6)),
                .send("abc"), .wait(gate), .send("def"),
            ]
        }
        defer { host.server.stop() }
        try await withTemporaryFolder { folder in
            let path = folder.path + "/photo.jpg"
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let half = Gate()
            let subscriber = TrackingSubscriber<DataAPI.DownloadedFile, FMRest.APIError>()
            host.database.download(host.url())
                .toFile(at: path) { if $0.completedBytes == 3 { half.open() } }
                .subscribe(subscriber)
            await half.wait()
            #expect(try Self.files(in: folder.path).count == 2)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("old".utf8))
            gate.open()
            #expect(await subscriber.completion().isFinished)
            expectNoDifference(
                subscriber.values,
                [DataAPI.DownloadedFile(path: path, byteCount: 6, fileName: "x.jpg")]
            )
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("abcdef".utf8))
            #expect(try Self.files(in: folder.path) == ["photo.jpg"])
        }
    }

    @Test(.thorough) func aLargeFileArrivesByteForByte() async throws {
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let host = try await ScriptedHost.start { _ in
            [.send(FaultServer.head(200, length: bytes.count)), .send(ByteBuffer(bytes: bytes))]
        }
        defer { host.server.stop() }
        try await withTemporaryFolder { folder in
            let file = try await host.database.download(host.url()).toFile(at: folder.path + "/f").firstValue()
            #expect(file.byteCount == bytes.count)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == bytes)
        }
    }

    @Test func aFailedDownloadLeavesWhatWasThere() async throws {
        let host = try await ScriptedHost.start { _ in
            [.send(FaultServer.head(200, length: 100) + "half"), .close]
        }
        defer { host.server.stop() }
        try await withTemporaryFolder { folder in
            let path = folder.path + "/photo.jpg"
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let result = await host.database.download(host.url()).toFile(at: path).awaitSingleResult()
            #expect(result.error?.code == .network)
            #expect(try Self.files(in: folder.path) == ["photo.jpg"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("old".utf8))
        }
    }

    /// The content stops in the middle: when it did not, a busy machine had received a whole gigabyte before the test
    /// cancelled.
    @Test func aCancelledDownloadLeavesNothing() async throws {
        let host = try await ScriptedHost.start { _ in
            [.send(FaultServer.head(200, length: 1 << 20)), .sendZeros(1 << 19)]
        }
        defer { host.server.stop() }
        try await withTemporaryFolder { folder in
            let begun = Gate()
            let subscriber = TrackingSubscriber<DataAPI.DownloadedFile, FMRest.APIError>()
            host.database.download(host.url())
                .toFile(at: folder.path + "/f") { if $0.completedBytes > 0 { begun.open() } }
                .subscribe(subscriber)
            await begun.wait()
            subscriber.cancel()
            await host.server.allConnectionsClosed()
            await until { (try? Self.files(in: folder.path)) == [] }
            #expect(subscriber.history.count == 1)
        }
    }

    @Test func aFolderThatIsMissingFailsBeforeTheContentIsRead() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(1 << 30) }
        defer { host.server.stop() }
        let result = await host.database.download(host.url()).toFile(at: "/nonexistent/folder/f").awaitSingleResult()
        #expect(result.error?.containerError?.code == .unwritable)
        #expect(result.error?.reason.contains("/nonexistent/folder/f") == true)
        await host.server.allConnectionsClosed()
    }

    @Test func aFolderInTheWayFailsAndLeavesNothing() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(10) }
        defer { host.server.stop() }
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder.path + "/f", withIntermediateDirectories: false)
            let result = await host.database.download(host.url()).toFile(at: folder.path + "/f").awaitSingleResult()
            #expect(result.error?.containerError?.code == .unwritable)
            #expect(try Self.files(in: folder.path) == ["f"])
        }
    }

    // MARK: Progress

    @Test func progressCountsEveryByteInOrder() async throws {
        let host = try await ScriptedHost.start { _ in Self.zeros(500_000) }
        defer { host.server.stop() }
        let log = NIOLockedValueBox<[DataAPI.TransferProgress]>([])
        let content = try await host.database.download(host.url())
            .toMemory { progress in log.withLockedValue { $0.append(progress) } }
            .firstValue()
        let progress = log.withLockedValue { $0 }
        #expect(content.data.count == 500_000)
        expectNoDifference(progress.first, DataAPI.TransferProgress(completedBytes: 0, totalBytes: 500_000))
        expectNoDifference(progress.last, DataAPI.TransferProgress(completedBytes: 500_000, totalBytes: 500_000))
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completedBytes < $1.completedBytes })
        #expect(progress.last?.fraction == 1)
    }

    @Test func aFractionNeedsAWhole() {
        #expect(DataAPI.TransferProgress(completedBytes: 5, totalBytes: nil).fraction == nil)
        #expect(DataAPI.TransferProgress(completedBytes: 5, totalBytes: 10).fraction == 0.5)
        #expect(DataAPI.TransferProgress(completedBytes: 0, totalBytes: 0).fraction == 1)
        #expect(DataAPI.TransferProgress(completedBytes: 20, totalBytes: 10).fraction == 1)
    }
}

extension Subscribers.Completion {
    var isFinished: Bool {
        if case .finished = self { true } else { false }
    }
}
