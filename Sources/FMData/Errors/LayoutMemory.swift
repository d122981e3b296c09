import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// What the layouts of a database hold, as far as errors had to be explained by it; see ``FieldSuspicion``.
///
/// A layout is asked for by the first who needs it, for all who need it meanwhile, and what comes of it holds for
/// ``lifetime``, also when it is nothing: a thousand rows that fail for the same reason cost one request. Who cancels leaves the
/// answer to the others; when the last one leaves, the request ends.
final class LayoutMemory: @unchecked Sendable {
    // @unchecked: every `var` is guarded by `lock`, and what a waiter does at the end is done once, outside of it.

    typealias MetaData = DataAPI.Layout.LayoutMetaData

    /// How long what is known of a layout is used. Long enough for a run of failing rows; whoever changes the layout
    /// meanwhile is told of the old one for no longer than that.
    static let lifetime = TimeAmount.seconds(60)

    private struct Known {
        /// `nil` when the layout could not be asked for.
        let metadata: MetaData?
        let end: NIODeadline
    }

    /// Requests of different sessions are not shared: one that waits for a session must not be waited for by whoever holds it.
    private struct Question: Hashable {
        let layout: String
        let asker: ObjectIdentifier
    }

    private struct Flight {
        let id: Int
        var waiters: [Int: Waiter] = [:]
        /// `nil` until it was sent.
        var request: AnyCancellable?
    }

    private struct Waiter {
        let promise: (Result<MetaData?, Never>) -> Void
        /// Calls off the alarm for the end of the waiter's own time.
        var callOff: @Sendable () -> Void = {}
    }

    private let time: SessionTime
    private let lock = NIOLock()
    private var known: [String: Known] = [:]
    private var flights: [Question: Flight] = [:]
    private var lastID = 0

    init(time: SessionTime) {
        self.time = time
    }

    /// What a layout holds: publishes one value, `nil` when it cannot be had or not in time, then finishes.
    ///
    /// - Parameters:
    ///   - asker: whose sessions `fetch` takes; it is kept alive by `fetch`.
    ///   - deadline: when the value must be there; `nil` for any time.
    ///   - fetch: one request for the layout's metadata.
    func metadata(
        of layout: String,
        for asker: AnyObject,
        by deadline: NIODeadline?,
        _ fetch: @escaping () -> AnyPublisher<MetaData, FMRest.APIError>
    ) -> AnyPublisher<MetaData?, Never> {
        let question = Question(layout: layout, asker: ObjectIdentifier(asker))
        return Deferred {
            let id = self.newID()
            return Future { self.join(question, as: id, Waiter(promise: $0), by: deadline, fetch) }
                .handleEvents(receiveCancel: { self.leave(question, id) })
        }
        .eraseToAnyPublisher()
    }

    /// What is known of a layout without asking; `nil` when it is nothing.
    func known(_ layout: String) -> MetaData? {
        let now = time.now()
        return lock.withLock { known[layout].flatMap { $0.end > now ? $0.metadata : nil } }
    }

    private func newID() -> Int {
        lock.withLock {
            lastID += 1
            return lastID
        }
    }

    private enum Turn {
        case answered(MetaData?)
        case waits
        case asks
    }

    private func join(
        _ question: Question,
        as id: Int,
        _ waiter: Waiter,
        by deadline: NIODeadline?,
        _ fetch: () -> AnyPublisher<MetaData, FMRest.APIError>
    ) {
        let now = time.now()
        let turn: Turn = lock.withLock {
            known = known.filter { $0.value.end > now }
            if let known = known[question.layout] { return .answered(known.metadata) }
            if flights[question] == nil {
                flights[question] = Flight(id: id, waiters: [id: waiter])
                return .asks
            }
            flights[question]?.waiters[id] = waiter
            return .waits
        }
        switch turn {
        case .answered(let metadata): return waiter.promise(.success(metadata))
        case .waits: break
        case .asks: ask(question, flight: id, fetch)
        }
        if let deadline { setAlarm(at: deadline, question, id) }
    }

    private func ask(
        _ question: Question,
        flight id: Int,
        _ fetch: () -> AnyPublisher<MetaData, FMRest.APIError>
    ) {
        let request = fetch().map(Optional.some).replaceError(with: nil)
            .sink { self.answer(question, flight: id, $0) }
        let isWanted = lock.withLock {
            guard flights[question]?.id == id else { return false }
            flights[question]?.request = request
            return true
        }
        if !isWanted { request.cancel() }
    }

    private func answer(_ question: Question, flight id: Int, _ metadata: MetaData?) {
        let end = time.now() + Self.lifetime
        let flight: Flight? = lock.withLock {
            guard flights[question]?.id == id else { return nil }
            known[question.layout] = Known(metadata: metadata, end: end)
            return flights.removeValue(forKey: question)
        }
        for waiter in (flight?.waiters ?? [:]).values {
            waiter.callOff()
            waiter.promise(.success(metadata))
        }
    }

    private func setAlarm(at deadline: NIODeadline, _ question: Question, _ id: Int) {
        let callOff = time.schedule(deadline) { self.leave(question, id)?.promise(.success(nil)) }
        let isWaiting = lock.withLock {
            guard flights[question]?.waiters[id] != nil else { return false }
            flights[question]?.waiters[id]?.callOff = callOff
            return true
        }
        if !isWaiting { callOff() }
    }

    /// Waits no more.
    @discardableResult
    private func leave(_ question: Question, _ id: Int) -> Waiter? {
        let (waiter, unwanted): (Waiter?, AnyCancellable?) = lock.withLock {
            guard let waiter = flights[question]?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard flights[question]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, flights.removeValue(forKey: question)?.request)
        }
        waiter?.callOff()
        unwanted?.cancel()
        return waiter
    }
}
