public import FMDataCore

extension DataAPI.Config {
    /// The default configuration with very long time limits: on a busy machine a test may be delayed for longer than
    /// any normal limit. Tests of limits set their own.
    public static var patient: DataAPI.Config {
        var config = DataAPI.Config()
        config.timeouts.queue = nil
        config.timeouts.connect = nil
        // Live queries use a twelfth of it, and would have a shorter limit if it were `nil`.
        config.timeouts.firstByte = .seconds(24 * 3600)
        config.timeouts.idle = nil
        config.sessions.waitingDeadline = .seconds(3600)
        config.sessions.fullHostDeadline = .seconds(3600)
        config.sessions.logOutDeadline = .seconds(3600)
        config.sessions.shutdownDeadline = .seconds(3600)
        config.sessions.abandonedLogin = .seconds(3600)
        config.sessions.idleTrim = .seconds(3600)
        return config
    }
}
