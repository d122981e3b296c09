package import OpenCombine

extension Publisher {
    /// Delivers the values of a call on the actor in whose code it is written. If that is none, they arrive where the
    /// call is subscribed to: on the main actor, or where ``DataAPI/Config/delivery`` says.
    ///
    /// - Parameter isolation: the `#isolation` of the caller.
    package func delivered(on isolation: (any Actor)?, by server: DataAPI.Server) -> AnyPublisher<Output, Failure> {
        AnyPublisher(
            PlacedPublisher(isolation: isolation, server: server) { turn in
                DeliveredPublisher(upstream: self, turn: turn, delivery: server.config.delivery)
            }
        )
    }

    /// Delivers the values of a database's call like those of a server's, as long as the database acts as the account
    /// that the call was made as.
    ///
    /// - Parameter mayHaveWritten: whether the call changes anything on the server.
    package func delivered(
        on isolation: (any Actor)?,
        by database: DataAPI.Database,
        mayHaveWritten: Bool = false
    ) -> AnyPublisher<Output, Failure> where Failure == FMRest.APIError {
        AnyPublisher(
            PlacedPublisher(isolation: isolation, server: database.server) { turn in
                DeliveredPublisher(upstream: self, turn: turn, delivery: database.server.config.delivery)
                    .read(in: { database.accountPeriod }, mayHaveWritten: mayHaveWritten)
            }
        )
    }
}

extension AccountPeriodPublisher {
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
        return AnyPublisher(
            PlacedPublisher(isolation: isolation, server: database.server) { turn in
                guard let turn else { return call }
                return AnyPublisher(
                    call.delivered(in: turn).read(in: { database.accountPeriod }, mayHaveWritten: mayHaveWritten)
                )
            }
        )
    }
}

/// A publisher that is made for each subscription, when it is known where that delivers.
///
/// The place is found when a subscriber subscribes, not when it first asks for values: a loop over OpenCombine's own
/// `values` subscribes on its actor and asks from any thread.
package struct PlacedPublisher<Placed: Publisher>: Publisher {
    package typealias Output = Placed.Output
    package typealias Failure = Placed.Failure

    let isolation: (any Actor)?
    let server: DataAPI.Server
    /// Makes the publisher; `nil` delivers where the values come from.
    let makePlaced: (ActorTurn?) -> Placed

    package init(
        isolation: (any Actor)?,
        server: DataAPI.Server,
        makePlaced: @escaping (ActorTurn?) -> Placed
    ) {
        self.isolation = isolation
        self.server = server
        self.makePlaced = makePlaced
    }

    package func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        makePlaced(server.turn(for: isolation)).receive(subscriber: subscriber)
    }
}

/// The last step of a call, in turns of an actor if there is one.
struct DeliveredPublisher<Upstream: Publisher>: Publisher {
    typealias Output = Upstream.Output
    typealias Failure = Upstream.Failure

    let upstream: Upstream
    let turn: ActorTurn?
    let delivery: DataAPI.Delivery

    func receive<Downstream: Subscriber<Output, Failure>>(subscriber: Downstream) {
        if let turn { return upstream.delivered(in: turn).receive(subscriber: subscriber) }
        switch delivery {
        case .background: BackgroundPublisher(upstream: upstream).receive(subscriber: subscriber)
        case .eventLoop: upstream.receive(subscriber: subscriber)
        }
    }
}

extension DataAPI.Server {
    /// Where a subscription delivers that is being made to a call with this isolation; `nil` if on no actor.
    func turn(for isolation: (any Actor)?) -> ActorTurn? {
        if let isolation {
            return isolation === InsideACall.shared ? nil : ActorTurn(actor: isolation, watch: blockedActorWatch)
        }
        guard config.delivery == .background else { return nil }
        return .ofSubscriber(watch: blockedActorWatch)
    }
}

/// Stands for the isolation of a call that is a step of another one.
private actor InsideACall {
    static let shared = InsideACall()
}

extension Optional where Wrapped == any Actor {
    /// The isolation of a call that is a step of another one: its values stay where they arrive, even if it is
    /// subscribed to on the main actor, since the other call delivers.
    package static var insideACall: Self { InsideACall.shared }
}
