import Foundation
import OpenCombine

/// Publishes the bytes of a file, chunk by chunk. The file is opened on the first demand. One chunk is published per
/// unit of demand and one more is read ahead, so that the end is known with the last byte. Reading happens on a queue
/// of the subscription; values and completion arrive on it, so a slow subscriber delays no other. Cancelling closes the
/// file.
struct FileChunks: Publisher {
    typealias Output = Data
    typealias Failure = any Error

    let path: String
    var chunkLength = FMRest.ContainerFile.chunkLength

    func receive<Downstream: Subscriber>(
        subscriber: Downstream
    ) where Downstream.Input == Data, Downstream.Failure == any Error {
        subscriber.receive(subscription: Inner(downstream: AnySubscriber(subscriber), reader: Reader(self)))
    }
}

extension FileChunks {
    private final class Inner: Subscription, Sendable {
        private enum State {
            /// No read is under way. → `reading` with demand, `terminal` when cancelled.
            case idle
            /// The queue satisfies the demand. → `idle` without demand, `terminal` at the end, on failure or when
            /// cancelled.
            case reading(demand: Subscribers.Demand)
            /// Ended. There is no way out of this state.
            case terminal
        }

        private let state = Guarded(State.idle)
        private let queue = DispatchQueue(label: "FMData.FileChunks")
        /// Called on the queue only.
        private let downstream: Guarded<AnySubscriber<Data, any Error>>
        /// Used on the queue only, so that nobody waits for the lock.
        private let reader: Guarded<Reader>

        init(downstream: AnySubscriber<Data, any Error>, reader: Reader) {
            self.downstream = Guarded(downstream)
            self.reader = Guarded(reader)
        }

        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            let starts = state.withLock { state in
                switch state {
                case .idle:
                    state = .reading(demand: demand)
                    return true
                case .reading(let pending):
                    state = .reading(demand: pending + demand)
                    return false
                case .terminal:
                    return false
                }
            }
            if starts { queue.async { self.workOffDemand() } }
        }

        func cancel() {
            state.withLock { $0 = .terminal }
            queue.async { self.close() }
        }

        private func workOffDemand() {
            let downstream = downstream.withLock { $0 }
            while takeOneUnit() {
                do {
                    guard let chunk = try reader.withLock({ try $0.next() }) else { return complete(.finished) }
                    let further = downstream.receive(chunk)
                    if try reader.withLock({ try $0.isAtEnd() }) { return complete(.finished) }
                    add(further)
                } catch {
                    return complete(.failure(error))
                }
            }
        }

        /// Takes one unit of demand. Returns whether there was one; otherwise the work ends.
        private func takeOneUnit() -> Bool {
            state.withLock { state in
                guard case .reading(let demand) = state else { return false }
                guard demand > .none else {
                    state = .idle
                    return false
                }
                state = .reading(demand: demand - 1)
                return true
            }
        }

        private func add(_ further: Subscribers.Demand) {
            state.withLock { state in
                if case .reading(let demand) = state { state = .reading(demand: demand + further) }
            }
        }

        private func complete(_ completion: Subscribers.Completion<any Error>) {
            let wasCancelled = state.withLock { state in
                if case .terminal = state { return true }
                state = .terminal
                return false
            }
            close()
            if !wasCancelled { downstream.withLock { $0 }.receive(completion: completion) }
        }

        private func close() { reader.withLock { $0.close() } }
    }
}

/// Reads a file, one chunk ahead.
private struct Reader {
    private let path: String
    private let chunkLength: Int
    private var handle: FileHandle?
    private var ahead: Data?

    init(_ chunks: FileChunks) {
        path = chunks.path
        chunkLength = chunks.chunkLength
    }

    /// The next chunk; `nil` at the end.
    mutating func next() throws -> Data? {
        try isAtEnd() ? nil : ahead.take()
    }

    mutating func isAtEnd() throws -> Bool {
        if ahead == nil { ahead = try read() }
        return ahead?.isEmpty ?? true
    }

    mutating func close() {
        try? handle?.close()
        handle = nil
    }

    private mutating func read() throws -> Data {
        try open().read(upToCount: chunkLength) ?? Data()
    }

    private mutating func open() throws -> FileHandle {
        if let handle { return handle }
        let opened = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        handle = opened
        return opened
    }
}

extension Optional {
    /// Returns the value and sets this to `nil`.
    fileprivate mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}

extension FMRest.ContainerFile {
    /// The number of bytes of a chunk.
    static let chunkLength = 64 * 1024

    /// The bytes, chunk by chunk, read on demand. Each subscription starts from the beginning.
    func chunks() -> AnyPublisher<Data, any Error> {
        switch source {
        case .data(let data):
            data.chunks(of: Self.chunkLength).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        case .file(let path, _): FileChunks(path: path).eraseToAnyPublisher()
        case .stream(_, _, let make): make()
        }
    }

    /// The same, with a report of each chunk that was delivered.
    func chunks(reportingTo observer: @escaping DataAPI.ProgressObserver) -> AnyPublisher<Data, any Error> {
        Deferred {
            var progress = DataAPI.TransferProgress(completedBytes: 0, totalBytes: length)
            return chunks().handleEvents(
                receiveSubscription: { _ in observer(progress) },
                receiveOutput: { chunk in
                    progress.completedBytes += chunk.count
                    observer(progress)
                }
            )
        }
        .eraseToAnyPublisher()
    }
}

extension Data {
    /// The bytes in slices, one per unit of demand, on the thread that asks for them.
    fileprivate func chunks(of length: Int) -> some Publisher<Data, Never> {
        stride(from: startIndex, to: endIndex, by: length).lazy
            .map { start in self[start..<Swift.min(start + length, endIndex)] }
            .publisher
    }
}
