import NIOCore
import OpenCombine

/// Caches what a file answers to questions about itself: the fields and portals of its layouts, and the names of its
/// layouts and scripts. Whole records are written by these answers, and errors explained; see ``Suspicion``.
///
/// The first call with a question sends it, and calls with the same question share the answer. The result is kept for
/// ``lifetime``, also when there was none: a thousand rows that fail for the same reason cost one request. A waiter
/// that cancels leaves the answer to the others; when the last one cancels, the request is cancelled.
package final class LayoutMemory: Sendable {
    /// How long an answer is used. Long enough for a run of failing rows; after a change of the file, errors describe
    /// its previous state for no longer than that.
    static let lifetime = TimeAmount.seconds(60)

    private struct CachedAnswer {
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

    /// Its promise is kept once, outside of the lock.
    private struct Waiter {
        var flight = 0
        let promise: (Result<FileAnswer?, Never>) -> Void
        /// Cancels the alarm for the waiter's deadline.
        var callOff: @Sendable () -> Void = {}
    }

    private struct State {
        var known: [FileQuestion: CachedAnswer] = [:]
        var sharing = SharingMachine<Inquiry>()
        var waiters: [Int: Waiter] = [:]
        /// The subscriptions to the requests, by their flights, once they were made.
        var requests: [Int: AnyCancellable] = [:]
        var lastID = 0
    }

    private let time: SessionTime
    private let state = Guarded(State())

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
                .handleEvents(receiveCancel: { self.leave(id) })
        }
        .eraseToAnyPublisher()
    }

    /// The cached answer about a layout; `nil` when there is none.
    package func known(_ layout: String) -> DataAPI.Layout.LayoutMetaData? {
        let now = time.now()
        let answer = state.withLock { $0.known[.layout(layout)].flatMap { $0.end > now ? $0.answer : nil } }
        guard case .layout(let metadata) = answer else { return nil }
        return metadata
    }

    private func newID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private enum AnswerSource {
        case answered(FileAnswer?)
        case waits
        case asks(flight: Int)
    }

    private func join(
        _ inquiry: Inquiry,
        as id: Int,
        _ waiter: Waiter,
        by deadline: NIODeadline?,
        _ fetch: () -> AnyPublisher<FileAnswer, FMRest.APIError>
    ) {
        let now = time.now()
        let joining: AnswerSource = state.withLock { state in
            state.known = state.known.filter { $0.value.end > now }
            if let known = state.known[inquiry.question] { return .answered(known.answer) }
            var waiter = waiter
            defer { state.waiters[id] = waiter }
            switch state.sharing.joined(id, inquiry) {
            case .begin(let flight):
                waiter.flight = flight
                return .asks(flight: flight)
            case .wait(let flight):
                waiter.flight = flight
                return .waits
            }
        }
        switch joining {
        case .answered(let answer): return waiter.promise(.success(answer))
        case .waits: break
        case .asks(let flight): ask(inquiry.question, flight, fetch)
        }
        if let deadline { setAlarm(at: deadline, id) }
    }

    private func ask(
        _ question: FileQuestion,
        _ flight: Int,
        _ fetch: () -> AnyPublisher<FileAnswer, FMRest.APIError>
    ) {
        // The answer is used when the request has finished, so that its session is free: what follows needs one.
        let request = fetch().last().map(Optional.some).replaceError(with: nil)
            .sink { self.answered(question, flight, $0) }
        let isWanted = state.withLock { state in
            guard state.sharing.isOpen(flight) else { return false }
            state.requests[flight] = request
            return true
        }
        if !isWanted { request.cancel() }
    }

    private func answered(_ question: FileQuestion, _ flight: Int, _ answer: FileAnswer?) {
        let end = time.now() + Self.lifetime
        let (waiters, request): ([Waiter], AnyCancellable?) = state.withLock { state in
            guard state.sharing.isOpen(flight) else { return ([], nil) }
            state.known[question] = CachedAnswer(answer: answer, end: end)
            let waiters = state.sharing.ended(flight).compactMap { state.waiters.removeValue(forKey: $0) }
            return (waiters, state.requests.removeValue(forKey: flight))
        }
        withExtendedLifetime(request) {}
        for waiter in waiters {
            waiter.callOff()
            waiter.promise(.success(answer))
        }
    }

    private func setAlarm(at deadline: NIODeadline, _ id: Int) {
        let callOff = time.schedule(deadline) { self.leave(id)?.promise(.success(nil)) }
        let isWaiting = state.withLock { state in
            guard state.waiters[id] != nil else { return false }
            state.waiters[id]?.callOff = callOff
            return true
        }
        if !isWaiting { callOff() }
    }

    /// Removes a waiter, and cancels the request when it was the last one. Returns the waiter, unless it has left
    /// already.
    @discardableResult
    private func leave(_ id: Int) -> Waiter? {
        let (waiter, unwanted): (Waiter?, AnyCancellable?) = state.withLock { state in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard state.sharing.left(id, waiter.flight) else { return (waiter, nil) }
            return (waiter, state.requests.removeValue(forKey: waiter.flight))
        }
        waiter?.callOff()
        unwanted?.cancel()
        return waiter
    }
}

extension AccountPeriod {
    /// What is known about the file, to explain errors and to write whole records.
    package var layoutMemory: LayoutMemory { attachments.value { LayoutMemory(time: time) } }
}
