import FMHTTP
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The log of a database's sessions, apart from the calls that open and end them.
///
/// At `debug`: refused sessions whose request is repeated in another, waits for a session, changes of the pool. As a
/// notice, once until a login succeeds: what an operator has to act on. As a warning: failures of the token store and
/// of the budget.
final class SessionLog: Sendable {
    private let logger: Logger?
    /// What was told last of logins that fail; `nil` after one that succeeded.
    private let told = NIOLockedValueBox<String?>(nil)

    init(logger: Logger?, origin: Origin?, database: String) {
        var logger = logger
        logger?[metadataKey: LogKey.database] = "\(database)"
        logger?[metadataKey: LogKey.origin] = origin.map { "\($0)" }
        self.logger = logger
    }

    /// Whether lines at `debug` are logged.
    var isDetailed: Bool { logger.map { $0.logLevel <= .debug } ?? false }

    func repeats(after failure: AttemptFailure) {
        guard isDetailed else { return }
        var metadata: Logger.Metadata = [:]
        metadata.addCodes(of: failure.error)
        metadata[LogKey.session] = failure.lease.map { "\($0.token.shortName)" }
        logger?.debug("session refused, request is repeated in another", metadata: metadata)
    }

    func waited(for session: String, _ time: TimeAmount) {
        logger?.debug(
            "waited for a session",
            metadata: [LogKey.session: "\(session)", LogKey.waited: time.logged]
        )
    }

    func changed(_ status: DataAPI.SessionStatus) {
        logger?.debug(
            "sessions changed",
            metadata: [
                LogKey.sessions: "\(status.sessions)", LogKey.loggingIn: "\(status.loggingIn)",
                LogKey.limit: "\(status.limit)", LogKey.waiting: "\(status.waiting)",
            ]
        )
    }

    func transition(_ transition: SessionTransition) {
        switch transition {
        case .loggedIn, .replaced: told.withLockedValue { $0 = nil }
        // Without a status nothing was sent: there are no credentials.
        case .lost(let error) where error.httpStatus != nil:
            tellOnce(error.fileMakerCode == 214 ? "account is locked out" : "credentials are refused", error)
        case .lost, .loggedOut: break
        }
    }

    /// The host has no room for a session, and no other serves.
    func shutOut(_ error: FMRest.APIError) { tellOnce("host has no room for a session", error) }

    func storeFailed(_ error: any Error) {
        logger?.warning(
            "token store failed",
            metadata: [LogKey.reason: "\(FMRest.APIError.tokenStore(error).reason)"]
        )
    }

    func budgetFailed(_ error: any Error) {
        logger?.warning(
            "budget of sessions failed",
            metadata: [LogKey.reason: "\(FMRest.APIError.sessionBudget(error).reason)"]
        )
    }

    private func tellOnce(_ what: String, _ error: FMRest.APIError) {
        let isNew = told.withLockedValue { told in
            defer { told = what }
            return told != what
        }
        guard isNew else { return }
        var metadata: Logger.Metadata = [:]
        metadata.addCodes(of: error)
        logger?.notice("\(what)", metadata: metadata)
    }
}
