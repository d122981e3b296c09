import Foundation
import NIOCore
import OpenCombine
import FMTestSupport
import Testing

@testable import FMData

@Suite struct ContainerFileTests {
    /// A file of its own for each test, removed afterwards.
    private static func withFile<T>(
        _ name: String,
        _ content: Data,
        _ body: (String) async throws -> T
    ) async throws -> T {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try content.write(to: file)
        return try await body(file.path)
    }

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
        try await Self.withFile("Grüße.dat", Data("GIF89a and more".utf8)) { path in
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
        try await Self.withFile("a", content) { path in
            let history = await Self.history { FileChunks(path: path, chunkLength: 8).subscribe(ChunkRecorder($0)) }
            #expect(history.bytes == Array(content))
            #expect(history.sizes.allSatisfy { $0 <= 8 && $0 > 0 })
            #expect(history.events.last == .finished)
            #expect(!history.exceededDemand)
        }
    }

    @Test(arguments: [16, 100])
    func cancellingEndsTheChunksAndReleasesTheSubscriber(length: Int) async throws {
        // With 16 bytes it is the last chunk that is answered with a cancel: no completion may follow.
        try await Self.withFile("a", Data(count: length)) { path in
            let history = await Self.history {
                FileChunks(path: path, chunkLength: 8).subscribe(ChunkRecorder($0, cancelsAfter: 2))
            }
            #expect(history.events == [.chunk(.init(repeating: 0, count: 8)), .chunk(.init(repeating: 0, count: 8))])
        }
    }

    @Test func withoutDemandNothingComes() async throws {
        try await Self.withFile("a", Data(count: 100)) { path in
            let (stream, continuation) = AsyncStream<ChunkRecorder.Event>.makeStream()
            let recorder = ChunkRecorder(continuation, waitsForTest: true)
            FileChunks(path: path, chunkLength: 8).subscribe(recorder)
            var history = History()
            for await event in stream {
                history.events.append(event)
                if event == .finished { break }
                recorder.requestOne()
            }
            #expect(!history.exceededDemand)
            #expect(history.bytes.count == 100)
        }
    }

    @Test func aFileThatVanishedFailsTheChunks() async throws {
        let history = await Self.history { FileChunks(path: "/nonexistent/file").subscribe(ChunkRecorder($0)) }
        #expect(history.events == [.failed])
    }

    @Test func aFormStreamsAFileFromDiskBetweenItsPrefixAndSuffix() async throws {
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await Self.withFile("a.bin", content) { path in
            var generator = SeededRandom(seed: 3)
            let form = try MultipartForm(try FMRest.ContainerFile(contentsOf: path), using: &generator)
            let history = await Self.history { form.chunks().subscribe(ChunkRecorder($0)) }
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

    /// Everything a subscriber saw until it was released: no waiting, and a leak never ends.
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

/// Asks for one chunk at a time: in turn from within `receive` and by `request`, or when the test says so.
///
/// `@unchecked Sendable`: the counters are touched under `lock` only, the rest never changes after the subscription has
/// arrived but for its end.
private final class ChunkRecorder: Subscriber, @unchecked Sendable {
    enum Event: Hashable, Sendable {
        case chunk([UInt8]), finished, failed, exceededDemand
    }

    private let continuation: AsyncStream<Event>.Continuation
    private let cancelsAfter: Int?
    private let waitsForTest: Bool
    private let lock = NSLock()
    private var subscription: (any Subscription)?
    private var received = 0
    private var requested = 0

    init(_ continuation: AsyncStream<Event>.Continuation, cancelsAfter: Int? = nil, waitsForTest: Bool = false) {
        self.continuation = continuation
        self.cancelsAfter = cancelsAfter
        self.waitsForTest = waitsForTest
    }

    deinit { continuation.finish() }

    func receive(subscription: any Subscription) {
        lock.withLock { self.subscription = subscription }
        requestOne()
    }

    func requestOne() {
        let subscription = lock.withLock {
            requested += 1
            return self.subscription
        }
        subscription?.request(.max(1))
    }

    func receive(_ input: ByteBuffer) -> Subscribers.Demand {
        let (count, isAllowed) = lock.withLock {
            received += 1
            return (received, received <= requested)
        }
        if !isAllowed { continuation.yield(.exceededDemand) }
        continuation.yield(.chunk(Array(input.readableBytesView)))
        if count == cancelsAfter {
            end()?.cancel()
            return .max(1)
        }
        if waitsForTest { return .none }
        guard count.isMultiple(of: 2) else {
            lock.withLock { requested += 1 }
            return .max(1)
        }
        requestOne()
        return .none
    }

    func receive(completion: Subscribers.Completion<any Error>) {
        _ = end()
        switch completion {
        case .finished: continuation.yield(.finished)
        case .failure: continuation.yield(.failed)
        }
    }

    private func end() -> (any Subscription)? {
        lock.withLock {
            defer { subscription = nil }
            return subscription
        }
    }
}
