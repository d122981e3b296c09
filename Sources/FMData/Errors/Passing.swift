import FMHTTP

/// What keeps a request from being carried out for the moment, and passes by itself. It is the one table for all that
/// wait: calls that are tried again, batches, commits, saves, live queries.
enum Passing: Equatable, Sendable {
    /// Somebody or something has what is needed: a lock, the file, the way to the host.
    case state
    /// The host is full, or too slow: later, and with fewer calls at once.
    case fullHost
}

extension FileMakerErrorCode {
    /// What passes; `nil` for a code that lasts.
    ///
    /// Source: Claris, "FileMaker error codes", edition 26.
    var passing: Passing? {
        switch self {
        case .hostCapacityExceeded, .sessionLimitExceeded, .newConnectionsRefused:
            .fullHost
        case .objectInUse, .operationFailedRetry, .fileInUse, .recordInUse, .tableInUse, .schemaInUse, .layoutInUse,
            .transactionLockFailed, .themeInUse, .itemsInUse, .fileModifiedElsewhere, .hostUnavailable:
            .state
        // The file is closed for a backup or an update. For a file that never was there it is the same code.
        case .fileNotOpened:
            .state
        // The session has lost its window, with the file or with the host's own clean-up; the next one has another.
        case .windowMissing:
            .state
        default:
            nil
        }
    }
}

extension FMRest.APIError {
    /// What passes, of an error that says that nothing was carried out; `nil` for one that lasts, and when nobody knows
    /// what was done.
    var passing: Passing? {
        if outcomeIsUnknown { return nil }
        if let fileMakerCode { return isRetryable ? fileMakerCode.passing : nil }
        if code == .timeout { return .fullHost }
        return isRetryable ? .state : nil
    }

    /// Whether what came was no answer of a Data API, or none that could be read. A reading can be made again then.
    var isUnreadable: Bool {
        if code == .notDataAPI || code == .decoding { return true }
        let cause = (underlying as? HTTPClientError)?.code
        return cause == .malformedResponse || cause == .decompressionFailed
    }
}
