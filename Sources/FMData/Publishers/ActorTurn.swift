import Dispatch

/// The actor on which somebody wants values, and how to get a turn on it.
struct ActorTurn: Sendable {
    let actor: any Actor
    /// Is told each time a turn is asked for, and calls back what it is given when the turn has come.
    var watch: BlockedActorWatch?

    /// Whether the calling code runs on the actor: known for the main actor alone.
    var isHere: Bool { actor === MainActor.shared && MainQueue.isCurrent }

    /// Asks for a turn, which comes some time later.
    func ask(for worker: any ActorWorker) {
        let turn = watch?.waiting(for: actor)
        Task {
            await actor.perform {
                turn?.hasCome()
                worker.work()
            }
        }
    }
}

/// The queue that the main actor runs on.
///
/// On Linux it is not always served by the main thread: an asynchronous `main` and `dispatchMain()` give that one up, and
/// any worker of Dispatch takes over.
enum MainQueue {
    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}

/// Something that has to be done on an actor.
protocol ActorWorker: AnyObject, Sendable {
    /// The turn has come.
    func work()
}

extension Actor {
    fileprivate func perform(_ work: @Sendable () -> Void) {
        work()
    }
}
