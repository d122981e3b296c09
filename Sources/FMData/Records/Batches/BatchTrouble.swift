/// What the error of a call means for its row.
///
/// Source: Claris Data API guide, "Error codes"; FileMaker Pro help, "FileMaker error codes".
enum BatchTrouble: Equatable {
    /// The server may have carried the call out.
    ///
    /// - Parameter isTimeout: whether the call timed out.
    case outcomeUnknown(isTimeout: Bool)
    /// Not carried out because the host is full or too slow: retry later, with fewer calls at once.
    case busy
    /// Not carried out because of a temporary state, such as a locked record.
    case passing
    /// There is no such record (101).
    case recordMissing
    /// The record has another modId (306).
    case modIdMismatch
    /// A record with such a value exists (504).
    case notUnique
    /// A field is not on the layout (102).
    case fieldMissing
    /// The answer could not be read. For a write that may have been carried out it is ``outcomeUnknown(isTimeout:)``; a
    /// read can be repeated.
    case garbled
    /// The server refuses this row.
    case refused
    /// The server would refuse every row.
    case hopeless

    /// Whether fewer calls should run at once.
    var asksForLess: Bool { self == .busy || self == .outcomeUnknown(isTimeout: true) }
}

extension BatchTrouble {
    init(_ error: FMRest.APIError) {
        self =
            if error.outcomeIsUnknown {
                .outcomeUnknown(isTimeout: error.code == .timeout)
            } else if error.stopsEverything {
                .hopeless
            } else if let code = error.fileMakerCode {
                Self(code)
            } else if error.code == .rolledBack, let fault = error.underlying as? FMRest.APIError {
                // The row is sent again together with the row that caused the rollback, or not at all.
                Self(fault).mayPass ? .passing : .refused
            } else {
                Self(error.passing) ?? (error.isUnreadable ? .garbled : .refused)
            }
    }

    private init(_ code: FileMakerErrorCode) {
        switch code {
        case .recordMissing: self = .recordMissing
        case .modIdMismatch: self = .modIdMismatch
        case .valueNotUnique: self = .notUnique
        case .fieldMissing: self = .fieldMissing
        case .transferLimitExceeded: self = .busy
        default: self = Self(code.passing) ?? .refused
        }
    }

    private init?(_ passing: Passing?) {
        switch passing {
        case .state: self = .passing
        case .fullHost: self = .busy
        case nil: return nil
        }
    }
}

extension FMRest.APIError {
    /// Whether every other row would meet the same error: the login is refused, the layout does not exist, the session
    /// that everything depended on has ended, or the credentials were replaced.
    fileprivate var stopsEverything: Bool {
        switch code {
        case .unauthorized, .sessionLost, .credentialsReplaced, .shutdown, .tls: return true
        default: break
        }
        switch fileMakerCode {
        case .layoutMissing, .accountInactive, .passwordExpired, .invalidAccount, .tooManyLoginAttempts: return true
        default: return false
        }
    }
}

extension BatchTrouble {
    /// Whether the same row may succeed in another run, because the error was not caused by the row.
    var mayPass: Bool {
        switch self {
        case .busy, .passing, .garbled, .hopeless: true
        case .outcomeUnknown, .recordMissing, .modIdMismatch, .notUnique, .fieldMissing, .refused: false
        }
    }
}
