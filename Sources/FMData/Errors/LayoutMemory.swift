import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// What a file answers to questions about itself: what its layouts hold, which whole records are written by, and which
/// layouts and scripts it has, which explains errors; see ``Suspicion``.
///
/// A question is asked by the first who has it, for all who have it meanwhile, and what comes of it holds for ``lifetime``, also
/// when it is nothing: a thousand rows that fail for the same reason cost one request. Who cancels leaves the answer to the
/// others; when the last one leaves, the request ends.
final class LayoutMemory: @unchecked Sendable {
    // @unchecked: every `var` is guarded by `lock`, and what a waiter does at the end is done once, outside of it.

    /// How long an answer is used. Long enough for a run of failing rows; whoever changes the file meanwhile is told of what it
    /// was for no longer than that.
    static let lifetime = TimeAmount.seconds(60)

    private struct Known {
        /// `nil` when there was none.
        let answer: FileAnswer?
        let end: NIODeadline
    }

    /// Requests of different sessions are not shared: one that waits for a session must not be waited for by whoever holds it.
    private struct Inquiry: Hashable {
        let question: FileQuestion
        let asker: ObjectIdentifier
    }

    private struct Flight {
        let id: Int
        var waiters: [Int: Waiter] = [:]
        /// `nil` until it was sent.
        var request: AnyCancellable?
    }

    private struct Waiter {
        let promise: (Result<FileAnswer?, Never>) -> Void
        /// Calls off the alarm for the end of the waiter's own time.
        var callOff: @Sendable () -> Void = {}
    }

    private let time: SessionTime
    private let lock = NIOLock()
    private var known: [FileQuestion: Known] = [:]
    private var flights: [Inquiry: Flight] = [:]
    private var lastID = 0

    init(time: SessionTime) {
        self.time = time
    }

    /// What the file answers: publishes one value, `nil` when there is no answer or not in time, then finishes.
    ///
    /// - Parameters:
    ///   - asker: whose sessions `fetch` takes; it is kept alive by `fetch`.
    ///   - deadline: when the value must be there; `nil` for any time.
    ///   - fetch: asks the file.
    func answer(
        to question: FileQuestion,
        for asker: AnyObject,
        by deadline: NIODeadline?,
        _ fetch: @escaping () -> AnyPublisher<FileAnswer, FMRest.APIError>
    ) -> AnyPublisher<FileAnswer?, Never> {
        let inquiry = Inquiry(question: question, asker: ObjectIdentifier(asker))
        return Deferred {
            let id = self.newID()
            return Future { self.join(inquiry, as: id, Waiter(promise: $0), by: deadline, fetch) }
                .handleEvents(receiveCancel: { self.leave(inquiry, id) })
        }
        .eraseToAnyPublisher()
    }

    /// What is known of a layout without asking; `nil` when it is nothing.
    func known(_ layout: String) -> DataAPI.Layout.LayoutMetaData? {
        let now = time.now()
        let answer = lock.withLock { known[.layout(layout)].flatMap { $0.end > now ? $0.answer : nil } }
        guard case .layout(let metadata) = answer else { return nil }
        return metadata
    }

    private func newID() -> Int {
        lock.withLock {
            lastID += 1
            return lastID
        }
    }

    private enum Turn {
        case answered(FileAnswer?)
        case waits
        case asks
    }

    private func join(
        _ inquiry: Inquiry,
        as id: Int,
        _ waiter: Waiter,
        by deadline: NIODeadline?,
        _ fetch: () -> AnyPublisher<FileAnswer, FMRest.APIError>
    ) {
        let now = time.now()
        let turn: Turn = lock.withLock {
            known = known.filter { $0.value.end > now }
            if let known = known[inquiry.question] { return .answered(known.answer) }
            if flights[inquiry] == nil {
                flights[inquiry] = Flight(id: id, waiters: [id: waiter])
                return .asks
            }
            flights[inquiry]?.waiters[id] = waiter
            return .waits
        }
        switch turn {
        case .answered(let answer): return waiter.promise(.success(answer))
        case .waits: break
        case .asks: ask(inquiry, flight: id, fetch)
        }
        if let deadline { setAlarm(at: deadline, inquiry, id) }
    }

    private func ask(
        _ inquiry: Inquiry,
        flight id: Int,
        _ fetch: () -> AnyPublisher<FileAnswer, FMRest.APIError>
    ) {
        // At the end, when its session is free: what follows from the answer needs one.
        let request = fetch().last().map(Optional.some).replaceError(with: nil)
            .sink { self.answered(inquiry, flight: id, $0) }
        let isWanted = lock.withLock {
            guard flights[inquiry]?.id == id else { return false }
            flights[inquiry]?.request = request
            return true
        }
        if !isWanted { request.cancel() }
    }

    private func answered(_ inquiry: Inquiry, flight id: Int, _ answer: FileAnswer?) {
        let end = time.now() + Self.lifetime
        let flight: Flight? = lock.withLock {
            guard flights[inquiry]?.id == id else { return nil }
            known[inquiry.question] = Known(answer: answer, end: end)
            return flights.removeValue(forKey: inquiry)
        }
        for waiter in (flight?.waiters ?? [:]).values {
            waiter.callOff()
            waiter.promise(.success(answer))
        }
    }

    private func setAlarm(at deadline: NIODeadline, _ inquiry: Inquiry, _ id: Int) {
        let callOff = time.schedule(deadline) { self.leave(inquiry, id)?.promise(.success(nil)) }
        let isWaiting = lock.withLock {
            guard flights[inquiry]?.waiters[id] != nil else { return false }
            flights[inquiry]?.waiters[id]?.callOff = callOff
            return true
        }
        if !isWaiting { callOff() }
    }

    /// Waits no more.
    @discardableResult
    private func leave(_ inquiry: Inquiry, _ id: Int) -> Waiter? {
        let (waiter, unwanted): (Waiter?, AnyCancellable?) = lock.withLock {
            guard let waiter = flights[inquiry]?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard flights[inquiry]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, flights.removeValue(forKey: inquiry)?.request)
        }
        waiter?.callOff()
        unwanted?.cancel()
        return waiter
    }
}
