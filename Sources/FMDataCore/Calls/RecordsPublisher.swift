import FMHTTP
import NIOConcurrencyHelpers
import OpenCombine

extension DataAPI {
    /// The parts of an answer other than its records.
    public struct RecordsSummary: Hashable, Sendable {
        /// The source of the records and how many there are.
        public var dataInfo: DataInfo
        /// The results of the scripts that ran with the request; `nil` when none ran.
        public var scriptResponse: ScriptResponse?
        /// The messages of FileMaker.
        public var messages: [Message]
        /// The number of records in the answer.
        public var recordCount: Int
    }
}

/// Turns the parts of an answer into records, one by one, while it arrives.
///
/// Demand reaches back to the socket: a part is requested when there is demand for a record and the parts so far hold
/// none. At any time only the bytes of a part, the text of one record and one decoded record are in memory, however
/// large the answer is.
struct RecordsPublisher<Upstream: Publisher, R: Decodable, P: Decodable>: Publisher
where Upstream.Output == HTTPResponsePart, Upstream.Failure == FMRest.APIError {
    typealias Output = DataAPI.Record<R, P>
    typealias Failure = FMRest.APIError

    let upstream: Upstream
    let reader: AnswerReader
    var notes: ExchangeNotes?
    /// What is known for the log before the answer comes.
    var figures = CallFigures()
    /// Called before the completion of an answer that reports success.
    let summary: (@Sendable (DataAPI.RecordsSummary) -> Void)?

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
        upstream.subscribe(
            Inner(
                reading: RecordStream(reader: reader, figures: figures),
                notes: notes,
                summary: summary,
                downstream: subscriber
            )
        )
    }

    /// Stands between the parts and the records. Either side may call while the other is being served; if the drain is
    /// running already, such a call only records its event.
    private final class Inner<Downstream: Subscriber>: Subscriber, Subscription, DeferredWorker,
        @unchecked Sendable
    where Downstream.Input == Output, Downstream.Failure == Failure {
        typealias Input = HTTPResponsePart

        // @unchecked: `lock` guards the variables down to `drainer`; only the thread that drains uses the stream.
        private let lock = NIOLock()
        private var downstream: Downstream?
        private var upstream: (any Subscription)?
        private var demand = Subscribers.Demand.none
        private var parts: [HTTPResponsePart] = []
        private var isPartAskedFor = false
        private var ending: Subscribers.Completion<FMRest.APIError>?
        private var drainer = SoleWorker()
        private var stream: RecordStream<R, P>
        private let notes: ExchangeNotes?
        private let summary: (@Sendable (DataAPI.RecordsSummary) -> Void)?

        init(
            reading stream: consuming RecordStream<R, P>,
            notes: ExchangeNotes?,
            summary: (@Sendable (DataAPI.RecordsSummary) -> Void)?,
            downstream: Downstream
        ) {
            self.stream = stream
            self.notes = notes
            self.summary = summary
            self.downstream = downstream
        }

        // MARK: From upstream

        func receive(subscription: any Subscription) {
            let downstream = lock.withLock {
                upstream = subscription
                return self.downstream
            }
            downstream?.receive(subscription: self)
        }

        func receive(_ part: HTTPResponsePart) -> Subscribers.Demand {
            notes?.observed?.received(part)
            lock.withLock {
                drainer.noteEvent()
                isPartAskedFor = false
                parts.append(part)
            }
            drain()
            return .none
        }

        func receive(completion: Subscribers.Completion<FMRest.APIError>) {
            lock.withLock {
                drainer.noteEvent()
                ending = completion
            }
            drain()
        }

        // MARK: From downstream

        func request(_ more: Subscribers.Demand) {
            lock.withLock { demand += more }
            drain()
        }

        func cancel() {
            let (upstream, isFirst) = lock.withLock {
                defer { lockedTerminate() }
                return (self.upstream, downstream != nil)
            }
            upstream?.cancel()
            if isFirst { notes?.cancelled() }
        }

        // MARK: Drain

        private enum Action {
            case read([HTTPResponsePart], isLast: Bool)
            case deliver(Downstream)
            case ask(any Subscription)
            case fail(Downstream, FMRest.APIError)
            /// Go on in the background.
            case leave
            case rest
        }

        private func drain() {
            if lock.withLock({ drainer.start() }) { goOn() }
        }

        func goOn() {
            while true {
                let action = lock.withLock {
                    let action = lockedAction()
                    if case .rest = action { drainer.stop() }
                    return action
                }
                switch action {
                case .read(let parts, let isLast): stream.take(parts, isLast: isLast)
                case .deliver(let downstream): deliver(to: downstream)
                case .ask(let upstream): upstream.request(.max(1))
                case .fail(let downstream, let error):
                    notes?.failed(error, stream.figures)
                    downstream.receive(completion: .failure(error))
                case .leave: return goOnInBackground()
                case .rest: return
                }
            }
        }

        private func lockedAction() -> Action {
            guard let downstream else { return .rest }
            if drainer.leaves() { return .leave }
            let isLast = if case .finished = ending { true } else { false }
            if !parts.isEmpty || (isLast && !stream.isEnded) {
                defer { parts = [] }
                return .read(parts, isLast: isLast)
            }
            switch stream.next {
            case .record where demand > .none, .end, .failure:
                return .deliver(downstream)
            case .record:
                return .rest
            case .starved:
                // Records that arrived completely before the exchange broke are delivered first.
                if case .failure(let error) = ending {
                    lockedTerminate()
                    return .fail(downstream, error)
                }
                guard demand > .none, !isPartAskedFor, let upstream else { return .rest }
                isPartAskedFor = true
                return .ask(upstream)
            }
        }

        private func deliver(to downstream: Downstream) {
            switch stream.takeNext() {
            case .record(let record):
                lock.withLock { demand -= 1 }
                let more = downstream.receive(record)
                lock.withLock { demand += more }
            case .end(let summary):
                lock.withLock { lockedTerminate() }
                var figures = stream.figures
                figures.rows = summary.recordCount
                notes?.finished(figures)
                self.summary?(summary)
                downstream.receive(completion: .finished)
            case .failure(let error):
                let upstream = lock.withLock {
                    defer { lockedTerminate() }
                    return ending == nil ? self.upstream : nil
                }
                upstream?.cancel()
                notes?.failed(error, stream.figures)
                downstream.receive(completion: .failure(error))
            case .starved:
                break
            }
        }

        private func lockedTerminate() {
            downstream = nil
            upstream = nil
            parts = []
        }
    }
}

/// An answer with records, read as far as it has arrived. It is always one record ahead, so that the end is known when
/// the last record is taken.
struct RecordStream<R: Decodable, P: Decodable>: ~Copyable {
    enum Event {
        case record(DataAPI.Record<R, P>)
        case end(DataAPI.RecordsSummary)
        case failure(FMRest.APIError)
        /// The next record has not arrived completely.
        case starved
    }

    private(set) var next = Event.starved
    /// Whether the last part has been read.
    private(set) var isEnded = false
    /// What is counted for the log.
    private(set) var figures: CallFigures
    /// `nil` after the end.
    private var reader: RecordResponseReader<R, P>?
    private var answer: AnswerBeginning

    init(reader: AnswerReader, figures: CallFigures = CallFigures()) {
        self.reader = reader.recordReader()
        self.figures = figures
        answer = AnswerBeginning(reader: reader)
    }

    mutating func take(_ parts: [HTTPResponsePart], isLast: Bool) {
        for part in parts {
            answer.take(part)
            switch part {
            case .head: break
            case .body(let bytes): reader?.feed(bytes)
            }
            figures.note(part)
        }
        isEnded = isLast
        if case .starved = next { advance() }
    }

    mutating func takeNext() -> Event {
        defer { advance() }
        return next
    }

    private mutating func advance() {
        do {
            if let record = try reader?.nextRecord() {
                next = .record(record)
            } else if isEnded, var reader = reader.take() {
                let envelope = try reader.finish()
                answer.reader.retire(reader)
                try answer.reader.check(envelope.messages, of: answer.http)
                next = .end(DataAPI.RecordsSummary(envelope))
            } else {
                next = .starved
            }
        } catch let error as DecodingFailure {
            next = .failure(answer.reader.unreadable(answer.http, error))
        } catch {
            next = .failure(FMRest.APIError(wrapping: error))
        }
    }
}

extension DataAPI.RecordsSummary {
    init(_ envelope: RecordResponseEnvelope) {
        self.init(
            dataInfo: envelope.dataInfo,
            scriptResponse: envelope.scriptResponse,
            messages: envelope.messages,
            recordCount: envelope.recordCount
        )
    }
}
