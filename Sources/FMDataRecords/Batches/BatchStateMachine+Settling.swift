import FMDataCore

// A write whose outcome is unknown is looked up before it is repeated. WriteOutcome.swift says what a lookup proves;
// what follows from it:
//
//     carried out         the row is done
//     not carried out     the write is sent again, guarded by its modId
//     not seen            the lookup is repeated when the host can no longer be working on the first attempt; if it
//                         finds nothing again, the write is sent again, until the retry timeout
//     undecided           the row is unknown for good, and not sent again
//     delete              without a lookup: sent again; 101 says that the record is deleted
//     upsert              of an existing record: done when it holds the row, written again when it is as it was found,
//                         and unknown when another client has changed it since, whose changes the write would overwrite

extension BatchStateMachine.Row {
    typealias LookupResult = BatchStateMachine.LookupResult

    /// Returns what follows a call that was answered.
    ///
    /// - Parameter repeatsUnguarded: whether an edit without a modId that is not seen is sent again.
    mutating func nextStep(after answer: BatchStateMachine.CallResult, repeatsUnguarded: Bool) -> NextStep {
        switch answer {
        case .created(let recordId, let modId): return .finish(.created(recordId: recordId, modId: modId))
        case .edited(let recordId, let modId): return .finish(.edited(recordId: recordId, modId: modId))
        case .deleted: return .finish(.deleted(wasThere: true))
        case .found(let finding):
            lookupHasFailed = false
            return nextStep(after: finding, repeatsUnguarded)
        case .trouble: return .giveUp
        }
    }

    private mutating func nextStep(after finding: LookupResult, _ repeatsUnguarded: Bool) -> NextStep {
        switch task.kind {
        case .create: nextStepOfCreate(after: finding)
        case .edit: nextStepOfEdit(after: finding, repeatsUnguarded)
        case .upsert: mayBeExecuted ? nextStepOfUpsert(after: finding) : firstStepOfUpsert(after: finding)
        case .delete, .unusable: .giveUp
        }
    }

    private mutating func nextStepOfCreate(after finding: LookupResult) -> NextStep {
        switch finding.outcome {
        case .carriedOut: .finish(finding.created)
        case .notSeen, .notCarriedOut: nextStepAfterMiss
        case .undecided(.keySpelledOtherwise): .finish(.unknown(.keySpelledOtherwise))
        // The 504 was about another client's record.
        case .undecided where isRefusedAsDouble && !mayBeExecuted: .finish(.failed(.lastError))
        case .undecided(let doubt): .finish(.unknown(doubt))
        }
    }

    /// The lookup has found nothing. That counts only when it finds nothing again once the host can no longer be
    /// working on the attempt.
    private var nextStepAfterMiss: NextStep {
        mutating get {
            // The record that the 504 was about has the value in another field, or another spelling of the key.
            if isRefusedAsDouble { return .finish(.failed(.lastError)) }
            misses += 1
            // A write of which the journal has lost its line is older than the loss, and no longer under way.
            if misses < 2, !isInDoubtByLossOnly { return .lookUpAgain }
            misses = 0
            mayBeExecuted = false
            return .sendAgain
        }
    }

    private mutating func nextStepOfEdit(after finding: LookupResult, _ repeatsUnguarded: Bool) -> NextStep {
        switch finding.outcome {
        case .carriedOut:
            guard let record = finding.record else { return .giveUp }
            return .finish(.edited(recordId: record.recordId, modId: record.modId))
        case .notCarriedOut: return .retry(.write(over: nil))
        case .notSeen where repeatsUnguarded: return nextStepAfterMiss
        case .notSeen:
            misses += 1
            return misses < 2 ? .lookUpAgain : .finish(.unknown(.nothingToTellBy))
        case .undecided(let doubt): return .finish(.unknown(doubt))
        }
    }

    /// The first lookup of an upsert, before anything has been written.
    private func firstStepOfUpsert(after finding: LookupResult) -> NextStep {
        if finding.isAmbiguous { return .finish(.failed(.ambiguousKey)) }
        if let record = finding.record { return .goOn(.write(over: record)) }
        return switch finding.others {
        case .tooMany: .finish(.failed(.ambiguousKey))
        case .inOtherForm: .finish(.failed(.keyInOtherForm))
        // It may be what an earlier attempt made, after all that time.
        case .spelledOtherwise where hasLostAnswers: .finish(.unknown(.keySpelledOtherwise))
        // If the file changes keys as they are entered, a new record would be a second one, in each run.
        case .spelledOtherwise: .finish(.failed(.keySpelledOtherwise))
        case .none: isRefusedAsDouble ? .finish(.failed(.lastError)) : .goOn(.write(over: nil))
        }
    }

    private mutating func nextStepOfUpsert(after finding: LookupResult) -> NextStep {
        if finding.isAmbiguous { return .finish(.unknown(.severalRecords)) }
        if finding.record == nil, case .undecided(let doubt) = finding.outcome { return .finish(.unknown(doubt)) }
        let isSame = finding.outcome == .carriedOut
        switch WriteOutcome.ofUpsert(over: writtenOver, found: finding.record.map { ($0, isSame) }) {
        case .carriedOut:
            guard let record = finding.record else { return .giveUp }
            return .finish(
                writtenOver == nil
                    ? .created(recordId: record.recordId, modId: record.modId)
                    : .edited(recordId: record.recordId, modId: record.modId)
            )
        case .notCarriedOut: return .retry(.write(over: finding.record))
        case .notSeen: return nextStepAfterMiss
        case .undecided(let doubt): return .finish(.unknown(doubt))
        }
    }
}

extension BatchStateMachine.LookupResult {
    fileprivate var created: BatchStateMachine.Outcome {
        record.map { .created(recordId: $0.recordId, modId: $0.modId) } ?? .unknown(.gone)
    }
}
