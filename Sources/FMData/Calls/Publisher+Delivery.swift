import OpenCombine

extension Publisher {
    /// Delivers the values of a call on the actor in whose code it is written.
    ///
    /// - Parameter isolation: the `#isolation` of the caller; with `nil` values arrive where
    ///   ``DataAPI/Config/delivery`` says.
    func delivered(on isolation: (any Actor)?, by server: DataAPI.Server) -> AnyPublisher<Output, Failure> {
        if let isolation { return delivered(in: ActorTurn(actor: isolation, watch: server.blockedActorWatch)) }
        return switch server.config.delivery {
        case .background: AnyPublisher(BackgroundPublisher(upstream: self))
        case .eventLoop: AnyPublisher(self)
        }
    }

    /// Delivers the values of a database's call on the actor in whose code it is written, as long as the database acts
    /// as the account that the call was made as.
    ///
    /// - Parameter mayHaveWritten: whether the call changes anything on the server.
    func delivered(
        on isolation: (any Actor)?,
        by database: DataAPI.Database,
        mayHaveWritten: Bool = false
    ) -> AnyPublisher<Output, Failure> where Failure == FMRest.APIError {
        AnyPublisher(
            delivered(on: isolation, by: database.server)
                .read(in: { database.tenure }, mayHaveWritten: mayHaveWritten)
        )
    }
}

extension TenuredPublisher {
    /// Delivers the values of one call of a database.
    ///
    /// The call fails by itself when the account changes, so that is checked once more only for values that wait for an
    /// actor.
    func delivered(
        on isolation: (any Actor)?,
        by database: DataAPI.Database,
        mayHaveWritten: Bool = false
    ) -> AnyPublisher<Output, Failure> {
        let call = AnyPublisher(self)
        return isolation == nil ? call : call.delivered(on: isolation, by: database, mayHaveWritten: mayHaveWritten)
    }
}
