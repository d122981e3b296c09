import FMData
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

@Suite(.timeLimit(.minutes(15))) struct ContainerFileTests {
    @Test func aFileInMemoryInfersItsType() {
        let file = FMRest.ContainerFile(fileName: "a.bin", data: Data("%PDF-1.7".utf8))
        #expect(file.mimeType == "application/pdf")
        #expect(file.length == 8)
        #expect(file.isReplayable)
        #expect(file.description == "a.bin (application/pdf, 8 bytes)")
    }

    @Test func aSliceOfDataIsReadFromItsOwnStart() {
        let slice = Data("xx%PDF-1.7".utf8).dropFirst(2)
        #expect(FMRest.ContainerFile(fileName: "a", data: slice).mimeType == "application/pdf")
    }

    @Test func theTypeGivenWins() {
        #expect(FMRest.ContainerFile(fileName: "a.pdf", mimeType: "x/y", data: Data()).mimeType == "x/y")
    }

    @Test func aFileOnDiskKnowsItsNameLengthAndType() async throws {
        try withTemporaryFile(Data("GIF89a and more".utf8), named: "Grüße.dat") { path in
            let file = try FMRest.ContainerFile(contentsOf: path)
            #expect(file.fileName == "Grüße.dat")
            #expect(file.mimeType == "image/gif")
            #expect(file.length == 15)
            #expect(try FMRest.ContainerFile(contentsOf: path, fileName: "b.gif", mimeType: "c/d").mimeType == "c/d")
        }
    }

    @Test(arguments: ["/nonexistent/file", "/", ""])
    func whatIsNoRegularFileIsRefused(path: String) {
        #expect(throws: FMRest.ContainerFileError.self) { try FMRest.ContainerFile(contentsOf: path) }
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 100])
    func aFileOnDiskArrivesChunkByChunkUnderDemand(length: Int) async throws {
        let content = Data((0..<length).map { UInt8($0 % 251) })
        try await withTemporaryFile(content, named: "a") { path in
            let history = await Self.history {
                FileChunks(path: path, chunkLength: 8).subscribe(ChunkRecorder($0))
            }
            #expect(history.bytes == Array(content))
            #expect(history.sizes.allSatisfy { $0 <= 8 && $0 > 0 })
            #expect(history.events.last == .finished)
            #expect(!history.exceededDemand)
        }
    }

    @Test func aFileInMemoryArrivesChunkByChunkUnderDemand() async {
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        // A slice of `Data` whose indices do not begin at 0.
        let file = FMRest.ContainerFile(fileName: "a", data: (Data([1, 2, 3]) + content).dropFirst(3))
        let history = await Self.history { file.chunks().subscribe(ChunkRecorder($0)) }
        #expect(history.sizes == [65_536, 65_536, 65_536, 3392])
        #expect(history.bytes == Array(content))
        #expect(history.events.last == .finished)
        #expect(!history.exceededDemand)
    }

    @Test func cancellingEndsTheChunksAndReleasesTheSubscriber() async throws {
        try await withTemporaryFile(Data(count: 100), named: "a") { path in
            let history = await Self.history {
                FileChunks(path: path, chunkLength: 8).subscribe(ChunkRecorder($0, cancelsAfter: 2))
            }
            #expect(
                history.events == [.chunk([UInt8](repeating: 0, count: 8)), .chunk([UInt8](repeating: 0, count: 8))]
            )
        }
    }

    @Test func aFileThatVanishedFailsTheChunks() async throws {
        let history = await Self.history {
            FileChunks(path: "/nonexistent/file").subscribe(ChunkRecorder($0))
        }
        #expect(history.events == [.failed])
    }

    @Test func aFormStreamsAFileFromDiskBetweenItsPrefixAndSuffix() async throws {
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await withTemporaryFile(content, named: "a.bin") { path in
            var generator = SeededRandom(seed: 3)
            let form = try MultipartForm(try FMRest.ContainerFile(contentsOf: path), using: &generator)
            let history = await Self.history {
                form.chunks().map { Data($0.readableBytesView) }.subscribe(ChunkRecorder($0))
            }
            #expect(history.bytes.count == form.contentLength)
            #expect(history.bytes.starts(with: form.prefix.readableBytesView))
            #expect(Array(history.bytes.suffix(form.suffix.readableBytes)) == Array(form.suffix.readableBytesView))
            #expect(
                Array(history.bytes.dropFirst(form.prefix.readableBytes).dropLast(form.suffix.readableBytes))
                    == Array(content)
            )
            #expect(history.events.last == .finished)
            #expect(!history.exceededDemand)
        }
    }

    /// All events of a subscriber until it is released. The stream ends with the release, so the test needs no timeout;
    /// a leak makes it hang.
    private static func history(_ subscribe: (AsyncStream<ChunkRecorder.Event>.Continuation) -> Void) async -> History {
        let (stream, continuation) = AsyncStream<ChunkRecorder.Event>.makeStream()
        subscribe(continuation)
        var history = History()
        for await event in stream { history.events.append(event) }
        return history
    }
}

private struct History {
    var events: [ChunkRecorder.Event] = []

    var sizes: [Int] {
        events.compactMap { if case .chunk(let bytes) = $0 { bytes.count } else { nil } }
    }
    var bytes: [UInt8] {
        events.flatMap { if case .chunk(let bytes) = $0 { bytes } else { [UInt8]() } }
    }
    var exceededDemand: Bool { events.contains(.exceededDemand) }
}

/// Asks for one chunk at a time, alternately from within `receive` and by `request`.
///
/// `@unchecked Sendable`: a publisher calls its subscriber serially, and the test only reads the stream.
private final class ChunkRecorder: Subscriber, @unchecked Sendable {
    enum Event: Hashable, Sendable {
        case chunk([UInt8]), finished, failed, exceededDemand
    }

    private let continuation: AsyncStream<Event>.Continuation
    private let cancelsAfter: Int?
    private var subscription: (any Subscription)?
    private var received = 0
    private var requested = 0

    init(_ continuation: AsyncStream<Event>.Continuation, cancelsAfter: Int? = nil) {
        self.continuation = continuation
        self.cancelsAfter = cancelsAfter
    }

    deinit { continuation.finish() }

    func receive(subscription: any Subscription) {
        self.subscription = subscription
        requested += 1
        subscription.request(.max(1))
    }

    func receive(_ input: Data) -> Subscribers.Demand {
        received += 1
        if received > requested { continuation.yield(.exceededDemand) }
        continuation.yield(.chunk(Array(input)))
        if received == cancelsAfter {
            subscription?.cancel()
            subscription = nil
            return .max(1)
        }
        requested += 1
        guard received.isMultiple(of: 2) else { return .max(1) }
        subscription?.request(.max(1))
        return .none
    }

    func receive(completion: Subscribers.Completion<any Error>) {
        subscription = nil
        switch completion {
        case .finished: continuation.yield(.finished)
        case .failure: continuation.yield(.failed)
        }
    }
}
