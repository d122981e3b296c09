public import FMData

extension DataAPI.Config {
    /// The default configuration with all the time in the world: a busy machine may hold up a test for longer than any time
    /// limit of a program. Tests of limits set their own.
    public static var patient: DataAPI.Config {
        var config = DataAPI.Config()
        config.timeouts.queue = nil
        config.timeouts.connect = nil
        // Live queries take a twelfth of it, and have a limit where this is none.
        config.timeouts.firstByte = .seconds(24 * 3600)
        config.timeouts.idle = nil
        config.sessions.waitingDeadline = .seconds(3600)
        config.sessions.logOutDeadline = .seconds(3600)
        config.sessions.shutdownDeadline = .seconds(3600)
        config.sessions.abandonedLogin = .seconds(3600)
        config.sessions.idleTrim = .seconds(3600)
        return config
    }
}
