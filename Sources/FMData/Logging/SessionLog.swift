import FMHTTP
import Logging

/// The log of a database's sessions, apart from the calls that open and end them: refused sessions whose request is
/// repeated in another, and failures of the token store.
struct SessionLog: Sendable {
    let logger: Logger?
    let origin: Origin?
    let database: String

    func repeats(after error: FMRest.APIError) {
        guard let logger, logger.logLevel <= .debug else { return }
        var metadata = metadata
        metadata["http_status"] = error.httpStatus.map { "\($0)" }
        metadata["filemaker_code"] = error.fileMakerCode.map { "\($0.rawValue)" }
        logger.debug("session refused, request is repeated in another", metadata: metadata)
    }

    func storeFailed(_ error: any Error) {
        var metadata = metadata
        metadata["reason"] = "\(FMRest.APIError.tokenStore(error).reason)"
        logger?.warning("token store failed", metadata: metadata)
    }

    private var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["database": "\(database)"]
        metadata["origin"] = origin.map { "\($0)" }
        return metadata
    }
}
