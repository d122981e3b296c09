import NIOCore
import OpenCombine

/// Publishes one empty value after a pause that starts with the demand, then finishes.
struct PausePublisher: ColdPublisher {
    typealias Output = Void
    typealias Failure = FMRest.APIError

    let pause: TimeAmount
    let time: SessionTime

    func begin(_ subscription: ColdSubscription<Self>) {
        let alarm = AnyCancellable(time.schedule(time.now() + pause) { subscription.succeed(with: ()) })
        // The pause has ended already, or the subscription was cancelled meanwhile.
        if !subscription.proceed(with: alarm) { alarm.cancel() }
    }
}
