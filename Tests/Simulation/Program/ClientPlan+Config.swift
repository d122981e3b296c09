import FMData

extension ClientPlan {
    func config(_ log: LogBook) -> DataAPI.Config {
        var config = DataAPI.Config()
        config.scheme = .http
        config.plainHTTP = .anywhereUnencrypted
        config.proxy = .none
        config.delivery = .eventLoop
        config.maximumConnections = maximumConnections
        config.explainsErrors = explainsErrors
        config.timeouts.firstByte = .seconds(firstByte)
        config.timeouts.total = total.map { .seconds($0) }
        config.sessions.maximumSessions = maximumSessions
        config.sessions.waitingDeadline = .seconds(waitingDeadline)
        config.sessions.idleTrim = .seconds(idleTrim)
        if logs { config.logger = log.logger }
        return config
    }
}
