import NIOConcurrencyHelpers
import OpenCombine

extension SessionPool {
    /// Publishes the token of a login that is not the pool's own, then finishes; the session is the pool's from then on.
    ///
    /// Sends the login with the first demand. When it is cancelled, or the pool is shut down, a login that is under way has
    /// some time to end (``DataAPI/SessionConfiguration/abandonedLogin``), and its session is logged out: nothing is left on
    /// the server.
    ///
    /// - Parameter welcome: called before the pool adopts its session.
    func visit(
        _ login: AnyPublisher<SessionToken, FMRest.APIError>,
        welcome: @escaping @Sendable () -> Void
    ) -> VisitPublisher {
        VisitPublisher(pool: self, login: login, welcome: welcome)
    }
}

/// See ``SessionPool/visit(_:welcome:)``.
struct VisitPublisher: Publisher {
    typealias Output = SessionToken
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let login: AnyPublisher<SessionToken, FMRest.APIError>
    let welcome: @Sendable () -> Void

    func receive<Downstream: Subscriber<SessionToken, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }
}

extension VisitPublisher {
    private final class Inner<Downstream: Subscriber<SessionToken, FMRest.APIError>>: Subscription, Visitor,
        @unchecked Sendable
    {
        private enum State {
            case ready(Downstream)
            /// `nil` until the pool has given the visit its name.
            case visiting(Downstream, SessionID?)
            case terminal
        }

        // `lock` guards `state`; the login is subscribed to once, by the first demand. That makes this class Sendable.
        private let lock = NIOLock()
        private let visit: VisitPublisher
        private var state: State

        init(_ visit: VisitPublisher, downstream: Downstream) {
            self.visit = visit
            state = .ready(downstream)
        }

        func request(_ demand: Subscribers.Demand) {
            precondition(demand > .none, "A subscriber asks for at least one value")
            let isFirst = lock.withLock {
                guard case .ready(let downstream) = state else { return false }
                state = .visiting(downstream, nil)
                return true
            }
            guard isFirst else { return }
            guard let (id, exchange) = visit.pool.beginVisit(self) else {
                terminate().downstream?.receive(completion: .failure(.sessionsShutDown))
                return
            }
            let isCancelled = lock.withLock {
                guard case .visiting(let downstream, nil) = state else { return true }
                state = .visiting(downstream, id)
                return false
            }
            // Nothing has been sent yet.
            if isCancelled { return visit.pool.visitFailed(id) }
            exchange.start(visit.login)
        }

        func cancel() {
            let (downstream, id) = terminate()
            if let id { visit.pool.abandonVisit(id) }
            withExtendedLifetime(downstream) {}
        }

        func loginEnded(_ id: SessionID, _ result: Result<SessionToken, FMRest.APIError>) {
            let downstream = terminate().downstream
            switch result {
            case .success(let token):
                if downstream != nil { visit.welcome() }
                if visit.pool.adopt(token, isOwned: true, from: id) {
                    _ = downstream?.receive(token)
                    downstream?.receive(completion: .finished)
                } else {
                    downstream?.receive(completion: .failure(.sessionsShutDown))
                }
            case .failure(let error):
                visit.pool.visitFailed(id)
                downstream?.receive(completion: .failure(error))
            }
        }

        private func terminate() -> (downstream: Downstream?, id: SessionID?) {
            lock.withLock {
                defer { state = .terminal }
                switch state {
                case .ready(let downstream): return (downstream, nil)
                case .visiting(let downstream, let id): return (downstream, id)
                case .terminal: return (nil, nil)
                }
            }
        }
    }
}
