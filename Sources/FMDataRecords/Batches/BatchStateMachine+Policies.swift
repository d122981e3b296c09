import FMDataCore

// What follows an error: one line per class of errors, the same for all rows.

extension BatchStateMachine.Row {
    typealias Work = BatchStateMachine.Work
    typealias NextStep = BatchStateMachine.NextStep

    /// Returns what follows a call that failed.
    mutating func nextStep(after trouble: BatchTrouble, of work: Work) -> NextStep {
        switch work {
        case .lookUp: nextStepAfterLookup(trouble)
        case .write(let found): nextStep(after: trouble, ofWriteOver: found)
        }
    }

    /// A lookup changes nothing, so its error says nothing about the row.
    private mutating func nextStepAfterLookup(_ trouble: BatchTrouble) -> NextStep {
        lookupHasFailed = true
        return switch trouble {
        case .busy, .passing, .outcomeUnknown, .garbled: .retry(.lookUp)
        case .recordMissing, .modIdMismatch, .notUnique, .fieldMissing, .refused, .hopeless: .giveUp
        }
    }

    private mutating func nextStep(after trouble: BatchTrouble, ofWriteOver found: WrittenVersion?) -> NextStep {
        switch trouble {
        case .outcomeUnknown:
            mayBeExecuted = true
            lostAnswers += 1
            writtenOver = found
            misses = 0
            return settlingStep
        case .busy, .passing:
            return .retry(.write(over: found))
        case .recordMissing:
            return nextStepAfterMissing(over: found)
        case .modIdMismatch:
            return nextStepAfterMismatch
        case .notUnique:
            return nextStepAfterDouble(over: found)
        // A delete that is refused now, for example because the login is refused, says nothing about an earlier one
        // whose answer was lost.
        case .refused where task.kind == .delete, .garbled where task.kind == .delete:
            return .giveUp
        case .fieldMissing, .refused, .garbled:
            return .finish(.failed(.lastError))
        case .hopeless:
            return .giveUp
        }
    }

    /// Finds out whether a write has been carried out.
    private var settlingStep: NextStep {
        switch task.kind {
        case .create(let hasKey): hasKey ? .goOn(.lookUp) : .finish(.unknown(.nothingToTellBy))
        case .edit, .upsert: .goOn(.lookUp)
        // A deleted record cannot be deleted again, so repeating the delete serves as the lookup.
        case .delete: .retry(.write(over: nil))
        case .unusable: .giveUp
        }
    }

    /// 101: there is no such record.
    private func nextStepAfterMissing(over found: WrittenVersion?) -> NextStep {
        switch task.kind {
        // After a lost answer it is unknown whether this batch deleted the record.
        case .delete: .finish(.deleted(wasThere: mayBeExecuted ? nil : false))
        // The record was deleted after the lookup.
        case .upsert where found != nil: .retry(.lookUp)
        case .create, .edit, .upsert, .unusable: .finish(.failed(.lastError))
        }
    }

    /// 306: the record has another modId than the edit is based on.
    private var nextStepAfterMismatch: NextStep {
        switch task.kind {
        // The first attempt may have arrived late and changed the record.
        case .edit where mayBeExecuted: .goOn(.lookUp)
        // The record was changed after the lookup; an upsert overwrites it.
        case .upsert: .retry(.lookUp)
        case .create, .edit, .delete, .unusable: .finish(.failed(.lastError))
        }
    }

    /// 504: a record with such a value exists.
    private mutating func nextStepAfterDouble(over found: WrittenVersion?) -> NextStep {
        switch task.kind {
        // It may be the record that the first attempt created or, for an upsert, one that another client created after
        // the lookup.
        case .create(hasKey: true) where hasLostAnswers && !isRefusedAsDouble,
            .upsert where found == nil && !isRefusedAsDouble:
            isRefusedAsDouble = true
            return .goOn(.lookUp)
        case .create, .edit, .delete, .upsert, .unusable:
            return .finish(.failed(.lastError))
        }
    }
}

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
                Self(code, error.passing)
            } else if error.code == .rolledBack, let fault = error.underlying as? FMRest.APIError {
                // The row is sent again together with the row that caused the rollback, or not at all.
                Self(fault).mayPass ? .passing : .refused
            } else {
                Self(error.passing) ?? (error.isUnreadable ? .garbled : .refused)
            }
    }

    private init(_ code: FileMakerErrorCode, _ passing: Passing?) {
        switch code {
        case .recordMissing: self = .recordMissing
        case .modIdMismatch: self = .modIdMismatch
        case .valueNotUnique: self = .notUnique
        case .fieldMissing: self = .fieldMissing
        case .transferLimitExceeded: self = .busy
        default: self = Self(code.passing ?? passing) ?? .refused
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
