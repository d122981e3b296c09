import FMDataCore
import NIOCore
import OpenCombine

/// An open journal, for one run.
struct OpenJournal: Sendable {
    let writer: JournalWriter
    let earlier: EarlierRuns
    /// When the host can no longer be working on anything that an earlier run has sent.
    let isOverAt: NIODeadline

    /// What earlier runs have noted.
    var state: JournalState { earlier.state }
}

/// Runs a publisher with an open journal: opens the journal on the first demand, and closes it before the completion is
/// sent.
struct JournalledPublisher<Output>: RelayPublisher {
    typealias Failure = FMRest.APIError

    let journal: DataAPI.WriteJournal
    let header: JournalHeader
    let settlingTime: TimeAmount
    let time: SessionTime
    let news: BatchNews
    let body: (OpenJournal) -> AnyPublisher<Output, FMRest.APIError>

    /// The writer of the open journal.
    var memory: JournalWriter? { nil }

    func begin(_ subscription: ColdSubscription<Self>) {
        let writer = JournalWriter(journal)
        let time = time
        // Continue on a thread that answers arrive on, not on the disk's.
        writer.open(header) { result in
            _ = time.schedule(time.now()) { Self.opened(writer, result, subscription) }
        }
    }

    private static func opened(
        _ writer: JournalWriter,
        _ result: Result<EarlierRuns, FMRest.APIError>,
        _ subscription: ColdSubscription<Self>
    ) {
        switch result {
        case .failure(let error): subscription.finish(.failure(error))
        case .success(let earlier):
            let source = subscription.unlessEnded { source, memory in
                memory = writer
                return source
            }
            guard let source else { return writer.close() }
            source.news.opened(earlier)
            let isOverAt = source.time.now() + source.settlingTime
            source.body(OpenJournal(writer: writer, earlier: earlier, isOverAt: isOverAt)).subscribe(subscription)
        }
    }

    func cancelled(_ subscription: ColdSubscription<Self>) { subscription.withLock { $0 }?.close() }

    func upstreamEnded(_ completion: Subscribers.Completion<FMRest.APIError>, _ subscription: ColdSubscription<Self>) {
        guard let writer = subscription.withLock({ $0 }) else { return subscription.finish(completion) }
        let time = time
        // A subscriber that receives the completion may open the journal again.
        writer.close { _ = time.schedule(time.now()) { subscription.finish(completion) } }
    }
}

/// Publishes one empty value when an entry has been stored, then finishes.
struct NotingPublisher: ColdPublisher {
    typealias Output = Void
    typealias Failure = FMRest.APIError

    let entry: JournalEntry
    let writer: JournalWriter
    let time: SessionTime

    func begin(_ subscription: ColdSubscription<Self>) {
        let time = time
        writer.note(entry) { result in
            _ = time.schedule(time.now()) {
                switch result {
                case .success: subscription.succeed(with: ())
                case .failure(let error): subscription.finish(.failure(error))
                }
            }
        }
        writer.flush()
    }
}
