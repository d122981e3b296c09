import NIOCore
import OpenCombine

/// Publishes one empty value when a pause has passed that begins with demand, then finishes.
struct PausePublisher: Publisher {
    typealias Output = Void
    typealias Failure = FMRest.APIError

    let pause: TimeAmount
    let time: SessionTime

    func receive<Downstream: Subscriber<Void, FMRest.APIError>>(subscriber: Downstream) {
        subscriber.receive(subscription: Inner(self, downstream: subscriber))
    }

    private final class Inner: ColdSubscription<PausePublisher>, @unchecked Sendable {
        // @unchecked: as the superclass.

        override func begin(_ source: PausePublisher) {
            let end = source.time.now() + source.pause
            let alarm = AnyCancellable(source.time.schedule(end) { self.succeed(with: ()) })
            // Rung already, or cancelled meanwhile.
            if !proceed(with: alarm) { alarm.cancel() }
        }
    }
}
