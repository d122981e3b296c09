import NIOConcurrencyHelpers
import NIOCore
import OpenCombine

/// Caches what a file answers to questions about itself: the fields and portals of its layouts, and the names of its
/// layouts and scripts. Whole records are written by these answers, and errors explained; see ``Suspicion``.
///
/// The first call with a question sends it, and calls with the same question share the answer. The result is kept for
/// ``lifetime``, also when there was none: a thousand rows that fail for the same reason cost one request. A waiter
/// that cancels leaves the answer to the others; when the last one cancels, the request is cancelled.
final class LayoutMemory: @unchecked Sendable {
    // @unchecked: `lock` guards every `var`, and the action of a waiter is called once, outside of it.

    /// How long an answer is used. Long enough for a run of failing rows; after a change of the file, errors describe
    /// its previous state for no longer than that.
    static let lifetime = TimeAmount.seconds(60)

    private struct Known {
        /// `nil` when the file did not answer.
        let answer: FileAnswer?
        let end: NIODeadline
    }

    /// The key of a request under way. Requests of different sessions are not shared: a request that waits for a
    /// session must not have the holder of that session as a waiter.
    private struct Inquiry: Hashable {
        let question: FileQuestion
        let asker: ObjectIdentifier
    }

    private struct Flight {
        let id: Int
        var waiters: [Int: Waiter] = [:]
        /// The subscription to the request; `nil` until it was made.
        var request: AnyCancellable?
    }

    private struct Waiter {
        let promise: (Result<FileAnswer?, Never>) -> Void
        /// Cancels the alarm for the waiter's deadline.
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

    /// Publishes the file's answer, `nil` when there is none or not in time, then finishes.
    ///
    /// - Parameters:
    ///   - asker: the owner of the sessions that `fetch` uses; `fetch` keeps it alive.
    ///   - deadline: the latest time for the value; `nil` for no limit.
    ///   - fetch: sends the question to the file.
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

    /// The cached answer about a layout; `nil` when there is none.
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
        // The answer is used when the request has finished, so that its session is free: what follows needs one.
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

    /// Removes a waiter, and cancels the request when it was the last one. Returns the waiter, unless it has left
    /// already.
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

extension Tenure {
    /// What is known about the file, to explain errors and to write whole records.
    var layoutMemory: LayoutMemory { attachments.value { LayoutMemory(time: time) } }
}
