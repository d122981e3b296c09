import NIOCore
import OpenCombine

/// Publishes one empty value after a pause that starts with the demand, then finishes.
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
            // The pause has ended already, or the subscription was cancelled meanwhile.
            if !proceed(with: alarm) { alarm.cancel() }
        }
    }
}
