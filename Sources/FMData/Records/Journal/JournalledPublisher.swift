import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// An open journal, for one run.
struct OpenJournal: Sendable {
    let writer: JournalWriter
    /// What earlier runs have noted.
    let state: JournalState
    /// When the host can no longer be working on anything that an earlier run has sent.
    let isOverAt: NIODeadline
}

/// Runs a publisher with an open journal: opens the journal on the first demand, and closes it before the completion is
/// sent.
struct JournalledPublisher<Output>: Publisher {
    typealias Failure = FMRest.APIError

    let journal: DataAPI.WriteJournal
    let header: JournalHeader
    let settlingTime: TimeAmount
    let time: SessionTime
    let news: BatchNews
    let body: (OpenJournal) -> AnyPublisher<Output, FMRest.APIError>

    func receive<Downstream: Subscriber<Output, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: RelaySubscription<JournalledPublisher>, Subscriber, @unchecked Sendable {
        // @unchecked: as the superclass.
        typealias Input = Output
        typealias Failure = FMRest.APIError

        private var writer: JournalWriter?

        override func begin(_ source: JournalledPublisher) {
            let writer = JournalWriter(source.journal)
            let time = source.time
            // Continue on a thread that answers arrive on, not on the disk's.
            writer.open(source.header) { result in
                _ = time.schedule(time.now()) { self.opened(writer, result) }
            }
        }

        private func opened(
            _ writer: JournalWriter,
            _ result: Result<(JournalState, cutBytes: Int), FMRest.APIError>
        ) {
            switch result {
            case .failure(let error): finish(.failure(error))
            case .success(let (state, cutBytes)):
                let source = lock.withLock {
                    self.writer = writer
                    return self.source
                }
                guard let source else { return writer.close() }
                source.news.cut(journalBytes: cutBytes)
                let isOverAt = source.time.now() + source.settlingTime
                source.body(OpenJournal(writer: writer, state: state, isOverAt: isOverAt)).subscribe(self)
            }
        }

        override func cancelled() { lock.withLock { writer }?.close() }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            let (time, writer) = lock.withLock { (source?.time, self.writer) }
            guard let time, let writer else { return finish(completion) }
            // A subscriber that receives the completion may open the journal again.
            writer.close { _ = time.schedule(time.now()) { self.finish(completion) } }
        }
    }
}

/// Publishes one empty value when an entry has been stored, then finishes.
struct NotingPublisher: Publisher {
    typealias Output = Void
    typealias Failure = FMRest.APIError

    let entry: JournalEntry
    let writer: JournalWriter
    let time: SessionTime

    func receive<Downstream: Subscriber<Void, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: ColdSubscription<NotingPublisher>, @unchecked Sendable {
        // @unchecked: as the superclass.

        override func begin(_ source: NotingPublisher) {
            let time = source.time
            source.writer.note(source.entry) { result in
                _ = time.schedule(time.now()) {
                    switch result {
                    case .success: self.succeed(with: ())
                    case .failure(let error): self.finish(.failure(error))
                    }
                }
            }
            source.writer.flush()
        }
    }
}
