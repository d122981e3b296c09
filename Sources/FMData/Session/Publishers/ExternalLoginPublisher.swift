import OpenCombine

extension SessionPool {
    /// Publishes the token of an external login, then finishes. From then on the session belongs to the pool.
    ///
    /// Sends the login with the first demand. If it is cancelled, or the pool is shut down, a login under way has
    /// ``DataAPI/SessionConfiguration/abandonedLogin`` to end, and its session is logged out, so that none is left on
    /// the server.
    ///
    /// - Parameter welcome: called before the pool adopts the session; returns the tenure that the session belongs to.
    func logInExternally(
        _ login: AnyPublisher<SessionToken, FMRest.APIError>,
        welcome: @escaping @Sendable () -> Tenure?
    ) -> ExternalLoginPublisher {
        ExternalLoginPublisher(pool: self, login: login, welcome: welcome)
    }
}

/// See ``SessionPool/logInExternally(_:welcome:)``.
struct ExternalLoginPublisher: Publisher {
    typealias Output = SessionToken
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let login: AnyPublisher<SessionToken, FMRest.APIError>
    let welcome: @Sendable () -> Tenure?

    func receive<Downstream: Subscriber<SessionToken, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: VisitSubscription(self, downstream: subscriber))
    }
}

/// The subscription of an external login. The pool calls it once, outside of its lock.
final class VisitSubscription: ColdSubscription<ExternalLoginPublisher>, @unchecked Sendable {
    // @unchecked: as the superclass.
    private let pool: SessionPool
    private let welcome: @Sendable () -> Tenure?

    override init(_ source: ExternalLoginPublisher, downstream: Downstream) {
        pool = source.pool
        welcome = source.welcome
        super.init(source, downstream: downstream)
    }

    override func begin(_ source: ExternalLoginPublisher) {
        guard let (id, exchange) = pool.beginVisit(self) else { return finish(.failure(.sessionsShutDown)) }
        // Cancelled meanwhile: nothing has been sent yet.
        guard proceed(with: Visit(id: id, pool: pool)) else { return pool.visitFailed(id) }
        exchange.start(source.login)
    }

    func loginEnded(_ id: SessionID, _ result: Result<SessionToken, FMRest.APIError>) {
        let downstream = end()
        switch result {
        case .success(let token):
            let tenure = downstream == nil ? nil : welcome()
            if pool.adopt(token, isOwned: true, from: id, in: tenure) {
                if let downstream { publishLast(token, to: downstream) }
            } else {
                let error = tenure?.isOver == true ? FMRest.APIError.credentialsReplaced() : .sessionsShutDown
                downstream?.receive(completion: .failure(error))
            }
        case .failure(let error):
            pool.visitFailed(id)
            downstream?.receive(completion: .failure(error))
        }
    }
}

private struct Visit: Cancellable {
    let id: SessionID
    let pool: SessionPool

    func cancel() { pool.abandonVisit(id) }
}
