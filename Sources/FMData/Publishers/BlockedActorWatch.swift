import Logging
import NIOConcurrencyHelpers
import NIOCore

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
    func waiting(for actor: any Actor) -> Turn? {
        guard actor === MainActor.shared, !hasSpoken.withLockedValue({ $0 }) else { return nil }
        return Turn(alarm: eventLoop.scheduleTask(in: Self.warningDelay) { self.speak() })
    }

    /// A requested turn.
    struct Turn: Sendable {
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
            A value has waited for the main actor for 3 s: the main thread is blocked. What is asked for in main-actor code \
            arrives there. Keep the main thread free (await, RunLoop.main.run(), dispatchMain()), or ask in a nonisolated \
            function.
            """
        )
    }
}
