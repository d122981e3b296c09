import FMHTTP
package import Logging
import NIOCore

extension DataAPI.Server {
    /// The log of one call that begins now, in this session; `nil` if nothing would be logged, so that logging costs
    /// the call nothing more than this check.
    ///
    /// - Parameter begun: when it has begun; `nil` for now.
    func callLog<Response>(
        of request: DataAPIRequest<Response>,
        in session: SessionToken? = nil,
        since begun: NIODeadline? = nil
    ) -> CallLog? {
        logger(for: request.context).map { logger in
            let session = session ?? request.secretSegment.map(SessionToken.init)
            let origin = try? origin.get()
            return CallLog(logger, of: request, in: session?.shortName, to: origin, since: begun, now: time.now)
        }
    }

    /// The log of fetching a container's content; `nil` if nothing would be logged.
    func callLog(ofContentFrom origin: Origin, _ context: RequestContext) -> CallLog? {
        let operation = DataAPI.Operation.downloadContainer.rawValue
        return logger(for: context).map {
            CallLog($0, ofContentFrom: origin, operation: operation, tag: context.tag, now: time.now)
        }
    }

    /// The logger if it logs at `debug`.
    private func logger(for context: RequestContext) -> Logger? {
        guard let logger = context.logger ?? config.logger, logger.logLevel <= .debug else { return nil }
        return logger
    }
}

extension DataAPI.CallOptions {
    /// The logger of the calls, with what the code that began them adds.
    var callLogger: Logger? {
        guard var logger = logger ?? serverLogger else { return nil }
        guard let callerMetadata else { return logger }
        for (key, value) in callerMetadata where logger[metadataKey: key] == nil { logger[metadataKey: key] = value }
        return logger
    }

    /// Whether each call is logged.
    var areLogged: Bool { log(.debug) }

    /// Keeps what the code that begins the calls adds to their lines: the metadata of its task-local logger, and what
    /// metadata providers read from its task. The lines are written on other threads, which have no task.
    ///
    /// Does nothing if no call is logged, and for polls, which are no work of the code that happens to cause them.
    mutating func noteCaller() {
        guard callerMetadata == nil, pollMeter == nil, log(.debug), let logger = logger ?? serverLogger else { return }
        let caller = Logger.current
        var metadata = caller.handler.metadata
        for provider in [caller.metadataProvider, logger.metadataProvider] {
            if let provider { metadata.merge(provider.get()) { known, _ in known } }
        }
        callerMetadata = metadata
    }

    fileprivate func log(_ level: Logger.Level) -> Bool {
        (logger ?? serverLogger).map { $0.logLevel <= level } ?? false
    }
}

extension DataAPI.Layout {
    /// A logger for lines about the work of several calls on this layout; `nil` if it would not log them.
    package func log(_ level: Logger.Level) -> Logger? {
        let options = database.calls.options
        guard options.log(level), var logger = options.callLogger else { return nil }
        logger[metadataKey: LogKey.database] = "\(database.name)"
        logger[metadataKey: LogKey.layout] = "\(name)"
        if let tag = options.tag { logger[metadataKey: LogKey.tag] = "\(tag)" }
        return logger
    }
}
