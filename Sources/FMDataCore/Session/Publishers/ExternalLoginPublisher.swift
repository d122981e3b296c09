import OpenCombine

extension SessionPool {
    /// Publishes the token of an external login, then finishes. From then on the session belongs to the pool.
    ///
    /// Sends the login with the first demand. If it is cancelled, or the pool is shut down, a login under way has
    /// `abandonedLogin` to end, and its session is logged out, so that none is left on the server.
    ///
    /// - Parameter welcome: called before the pool adopts the session; returns the account period that the session
    ///   belongs to.
    func logInExternally(
        _ login: AnyPublisher<SessionToken, FMRest.APIError>,
        welcome: @escaping @Sendable () -> AccountPeriod?
    ) -> ExternalLoginPublisher {
        ExternalLoginPublisher(pool: self, login: login, welcome: welcome)
    }
}

/// See ``SessionPool/logInExternally(_:welcome:)``.
struct ExternalLoginPublisher: ColdPublisher {
    typealias Output = SessionToken
    typealias Failure = FMRest.APIError

    let pool: SessionPool
    let login: AnyPublisher<SessionToken, FMRest.APIError>
    let welcome: @Sendable () -> AccountPeriod?

    /// Constant: what is needed when the login ends, also after the end of the subscription.
    var memory: (pool: SessionPool, welcome: @Sendable () -> AccountPeriod?) { (pool, welcome) }

    func begin(_ subscription: VisitSubscription) {
        guard let (id, exchange) = pool.beginVisit(subscription) else {
            return subscription.finish(.failure(.sessionsShutDown))
        }
        // Cancelled meanwhile: nothing has been sent yet.
        guard subscription.proceed(with: Visit(id: id, pool: pool)) else { return pool.visitFailed(id) }
        exchange.start(login)
    }
}

/// The subscription of an external login. The pool calls it once, outside of its lock.
typealias VisitSubscription = ColdSubscription<ExternalLoginPublisher>

extension VisitSubscription {
    func loginEnded(_ id: SessionID, _ result: Result<SessionToken, FMRest.APIError>) {
        let downstream = end()
        switch result {
        case .success(let token):
            let accountPeriod = downstream == nil ? nil : memory.welcome()
            if memory.pool.adopt(token, isOwned: true, from: id, in: accountPeriod) {
                if let downstream { publishLast(token, to: downstream) }
            } else {
                let error = accountPeriod?.isOver == true ? FMRest.APIError.credentialsReplaced() : .sessionsShutDown
                downstream?.receive(completion: .failure(error))
            }
        case .failure(let error):
            memory.pool.visitFailed(id)
            downstream?.receive(completion: .failure(error))
        }
    }
}

private struct Visit: Cancellable {
    let id: SessionID
    let pool: SessionPool

    func cancel() { pool.abandonVisit(id) }
}
