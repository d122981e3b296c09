import FMHTTP
import Logging

extension DataAPI.Server {
    /// The log of one call that begins now; `nil` if nothing would be logged.
    func callLog<Response>(of request: DataAPIRequest<Response>) -> CallLog? {
        logger(for: request.context).map { CallLog($0, of: request, to: try? origin.get(), now: time.now) }
    }

    /// The log of fetching a container's content; `nil` if nothing would be logged.
    func callLog(ofContentFrom origin: Origin, _ context: RequestContext) -> CallLog? {
        logger(for: context).map { CallLog($0, ofContentFrom: origin, tag: context.tag, now: time.now) }
    }

    /// The logger if it logs at `debug`; otherwise `nil`, and logging costs the call nothing more than this check.
    private func logger(for context: RequestContext) -> Logger? {
        guard let logger = context.logger ?? config.logger, logger.logLevel <= .debug else { return nil }
        return logger
    }
}
