import FMHTTP
import NIOCore

extension SessionPoolStateMachine.Settings {
    /// Corrects invalid values of a configuration: at least one session and one place in the queue, no negative times.
    init(_ configuration: DataAPI.SessionConfiguration, hasStore: Bool) {
        maximumSessions = max(1, configuration.maximumSessions)
        maximumWaiting = max(1, configuration.maximumWaiting)
        waitingTime = TimeAmount(clamping: configuration.waitingDeadline)
        fullHostTime = TimeAmount(clamping: configuration.fullHostDeadline)
        let expiry = TimeAmount(clamping: configuration.idleExpiry)
        lifeTime = expiry
        let margin = TimeAmount(clamping: configuration.idleMargin)
        // A margin as large as the expiry, or an expiry of zero, would make every session expire before it is used.
        idleTime = max(.seconds(1), margin < expiry ? expiry - margin : .nanoseconds(expiry.nanoseconds / 2))
        trimTime = TimeAmount(clamping: configuration.idleTrim)
        minimumBackOff = TimeAmount(clamping: configuration.minimumBackOff)
        maximumBackOff = TimeAmount(clamping: configuration.maximumBackOff)
        loginAttempts = max(1, configuration.loginAttempts)
        abandonedTime = TimeAmount(clamping: configuration.abandonedLogin)
        shutdownTime = TimeAmount(clamping: configuration.shutdownDeadline)
        logOutTime = TimeAmount(clamping: configuration.logOutDeadline)
        self.hasStore = hasStore
    }
}
