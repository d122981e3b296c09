import FMHTTP

/// A transient reason why a request is not carried out. All code that waits and tries again uses this one table:
/// retried calls, batches, commits, saves, live queries.
package enum Passing: Equatable, Sendable {
    /// A needed thing is in use or not available: a lock, the file, the connection to the host.
    case state
    /// The host is full or too slow: try later, and with fewer calls at once.
    case fullHost
}

extension FileMakerErrorCode {
    /// The transient reason that the code tells of; `nil` for a code that lasts.
    ///
    /// Source: Claris, "FileMaker error codes", edition 26.
    package var passing: Passing? {
        switch self {
        case .hostCapacityExceeded, .sessionLimitExceeded, .newConnectionsRefused:
            .fullHost
        case .objectInUse, .operationFailedRetry, .fileInUse, .recordInUse, .tableInUse, .schemaInUse, .layoutInUse,
            .transactionLockFailed, .themeInUse, .itemsInUse, .fileModifiedElsewhere, .hostUnavailable:
            .state
        // The file is closed for a backup or an update. A file that never existed gives the same code.
        case .fileNotOpened:
            .state
        // The session has lost its window, when the file was closed or when the host cleaned up; the next session has
        // another.
        case .windowMissing:
            .state
        default:
            nil
        }
    }
}

extension FMRest.APIError {
    /// The transient reason of an error after which nothing was carried out; `nil` for an error that lasts, and when
    /// the outcome is unknown.
    package var passing: Passing? {
        if outcomeIsUnknown { return nil }
        if let fileMakerCode { return isRetryable ? fileMakerCode.passing ?? .state : nil }
        if code == .timeout { return .fullHost }
        return isRetryable ? .state : nil
    }

    /// Whether the answer was none of a Data API, or could not be read. A read can then be repeated.
    package var isUnreadable: Bool {
        if code == .notDataAPI || code == .decoding { return true }
        let cause = (underlying as? HTTPClientError)?.code
        return cause == .malformedResponse || cause == .decompressionFailed
    }
}

extension HTTPClientError.Code {
    /// Whether the error is transient: caused by a state of the network, or by a server or proxy that does not answer.
    var isPassing: Bool {
        switch self {
        // The host's name may be misspelled, but often its resolver is just not available.
        case .unknownHost, .connectionRefused, .connectFailed, .proxyFailure: true
        case .connectionClosed, .truncatedBody: true
        default: false
        }
    }
}
