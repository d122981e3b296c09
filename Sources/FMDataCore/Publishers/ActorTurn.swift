import Dispatch
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The actor on which values are delivered, and how to get a turn on it.
package struct ActorTurn: Sendable {
    let actor: any Actor
    /// Called each time a turn is requested; warns if the turn does not come.
    var watch: BlockedActorWatch?

    /// Whether the calling code runs on the actor: known only for the main actor.
    var isHere: Bool { actor === MainActor.shared && MainQueue.isCurrent }

    /// Turns on the main actor if the calling code, which subscribes, runs on it; `nil` elsewhere. Main-actor code
    /// always subscribes on the main queue.
    static func ofSubscriber(watch: BlockedActorWatch? = nil) -> ActorTurn? {
        MainQueue.isCurrent ? ActorTurn(actor: MainActor.shared, watch: watch) : nil
    }

    /// Asks for a turn, in which the worker is called.
    func ask(for worker: any DeferredWorker) {
        let turn = watch?.waiting(for: actor)
        Task {
            await actor.perform {
                turn?.hasCome()
                worker.goOn()
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

extension Actor {
    fileprivate func perform(_ work: @Sendable () -> Void) {
        work()
    }
}

/// Logs one warning when values wait for a main actor that gets no turn: the main thread is blocked, and without a
/// warning the program would just seem to hang.
final class BlockedActorWatch: Sendable {
    /// How long a value may wait for the main actor before the warning.
    private static let warningDelay = TimeAmount.seconds(3)

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let hasSpoken = NIOLockedValueBox(false)

    /// - Parameter logger: the configuration's logger; `nil` for the program's default log handler.
    init(eventLoop: any EventLoop, logger: Logger?) {
        self.eventLoop = eventLoop
        self.logger = logger ?? Logger(label: "FMData")
    }

    /// A turn on an actor was requested. Returns `nil` if it need not be watched.
    func waiting(for actor: any Actor) -> WatchedTurn? {
        guard actor === MainActor.shared, !hasSpoken.withLockedValue({ $0 }) else { return nil }
        return WatchedTurn(alarm: eventLoop.scheduleTask(in: Self.warningDelay) { self.speak() })
    }

    /// A requested turn.
    struct WatchedTurn: Sendable {
        fileprivate let alarm: Scheduled<Void>

        func hasCome() { alarm.cancel() }
    }

    private func speak() {
        let isFirst = hasSpoken.withLockedValue { hasSpoken in
            defer { hasSpoken = true }
            return !hasSpoken
        }
        guard isFirst else { return }
        logger.warning(
            """
            A value has waited for the main actor for 3 s: the main thread is blocked. What is asked for in main-actor \
            code, or subscribed to on the main thread, arrives there. Keep the main thread free (await, \
            RunLoop.main.run(), dispatchMain()), or ask in a nonisolated function and subscribe on another thread.
            """
        )
    }
}
