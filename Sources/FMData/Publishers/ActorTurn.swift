import Dispatch

/// The actor on which values are delivered, and how to get a turn on it.
struct ActorTurn: Sendable {
    let actor: any Actor
    /// Called each time a turn is requested; warns if the turn does not come.
    var watch: BlockedActorWatch?

    /// Whether the calling code runs on the actor: known only for the main actor.
    var isHere: Bool { actor === MainActor.shared && MainQueue.isCurrent }

    /// Asks for a turn, in which the worker is called.
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
/// On Linux this queue is not always served by the main thread: an asynchronous `main` and `dispatchMain()` give that
/// thread up, and any worker thread of Dispatch takes over.
enum MainQueue {
    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}

/// Work that has to be done on an actor.
protocol ActorWorker: AnyObject, Sendable {
    /// Called on the actor.
    func work()
}

extension Actor {
    fileprivate func perform(_ work: @Sendable () -> Void) {
        work()
    }
}
