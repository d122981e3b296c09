// A write whose outcome nobody knows is looked up before it is repeated. What a look proves is in WriteVerdict.swift;
// what follows:
//
//     carried out         the row is done
//     not carried out     it is sent again, guarded by its modId
//     not seen            it is looked for again when the first attempt can no longer be at work, and then sent again
//     undecided           it is unknown for good, and not sent
//     delete              by itself: sent again; 101 says that the record is gone
//     upsert              of a record that is there: done when it holds the row, written again when it is as it was found,
//                         and unknown when somebody has changed it since, whose work it would undo

extension BatchStateMachine.Row {
    typealias Finding = BatchStateMachine.Finding

    /// How many answers to the writes of one row may be lost.
    private static let maximumLostAnswers = 3

    /// What comes after a call that was answered.
    ///
    /// - Parameter repeatsUnguarded: whether an edit without a modId that is not seen is sent again.
    mutating func move(after answer: BatchStateMachine.Answer, repeatsUnguarded: Bool) -> Move {
        switch answer {
        case .created(let recordId, let modId): return .finish(.created(recordId: recordId, modId: modId))
        case .edited(let recordId, let modId): return .finish(.edited(recordId: recordId, modId: modId))
        case .deleted: return .finish(.deleted(wasThere: true))
        case .found(let finding):
            lookHasFailed = false
            return move(after: finding, repeatsUnguarded)
        case .trouble: return .giveUp
        }
    }

    private mutating func move(after finding: Finding, _ repeatsUnguarded: Bool) -> Move {
        switch task.kind {
        case .create: moveOfCreate(after: finding)
        case .edit: moveOfEdit(after: finding, repeatsUnguarded)
        case .upsert: mayBeExecuted ? moveOfUpsert(after: finding) : firstMoveOfUpsert(after: finding)
        case .delete, .unusable: .giveUp
        }
    }

    private mutating func moveOfCreate(after finding: Finding) -> Move {
        switch finding.verdict {
        case .carriedOut: .finish(finding.created)
        case .notSeen, .notCarriedOut: moveAfterMiss
        // What the server spoke of is somebody else's record.
        case .undecided where isRefusedAsDouble && !mayBeExecuted: .finish(.failed(.lastError))
        case .undecided(let doubt): .finish(.unknown(doubt))
        }
    }

    /// There is nothing of it. Only when it is still so at a time when the attempt can no longer be at work is that
    /// taken for the truth.
    private var moveAfterMiss: Move {
        mutating get {
            // The double that the server spoke of has another field's value, or is spelt in another way.
            if isRefusedAsDouble { return .finish(.failed(.lastError)) }
            misses += 1
            if misses < 2 { return .lookAgain }
            misses = 0
            mayBeExecuted = false
            if lostAnswers >= Self.maximumLostAnswers { return .finish(.failed(.neverArrived)) }
            return .goOn(.write(over: nil))
        }
    }

    private mutating func moveOfEdit(after finding: Finding, _ repeatsUnguarded: Bool) -> Move {
        switch finding.verdict {
        case .carriedOut:
            guard let record = finding.record else { return .giveUp }
            return .finish(.edited(recordId: record.recordId, modId: record.modId))
        case .notCarriedOut: return .retry(.write(over: nil))
        case .notSeen where repeatsUnguarded: return moveAfterMiss
        case .notSeen:
            misses += 1
            return misses < 2 ? .lookAgain : .finish(.unknown(.nothingToTellBy))
        case .undecided(let doubt): return .finish(.unknown(doubt))
        }
    }

    /// Nothing has been written yet.
    private func firstMoveOfUpsert(after finding: Finding) -> Move {
        if finding.isAmbiguous { return .finish(.failed(.ambiguousKey)) }
        if let record = finding.record { return .goOn(.write(over: record)) }
        return switch finding.others {
        case .tooMany: .finish(.failed(.ambiguousKey))
        case .inOtherForm: .finish(.failed(.keyInOtherForm))
        case .spelledOtherwise where isRefusedAsDouble: .finish(.failed(.keySpelledOtherwise))
        case .none, .spelledOtherwise:
            isRefusedAsDouble ? .finish(.failed(.lastError)) : .goOn(.write(over: nil))
        }
    }

    private mutating func moveOfUpsert(after finding: Finding) -> Move {
        if finding.isAmbiguous { return .finish(.unknown(.severalRecords)) }
        if finding.record == nil, case .undecided(let doubt) = finding.verdict { return .finish(.unknown(doubt)) }
        let isSame = finding.verdict == .carriedOut
        switch WriteVerdict.ofUpsert(over: writtenOver, found: finding.record.map { ($0, isSame) }) {
        case .carriedOut:
            guard let record = finding.record else { return .giveUp }
            return .finish(
                writtenOver == nil
                    ? .created(recordId: record.recordId, modId: record.modId)
                    : .edited(recordId: record.recordId, modId: record.modId)
            )
        case .notCarriedOut: return .retry(.write(over: finding.record))
        case .notSeen: return moveAfterMiss
        case .undecided(let doubt): return .finish(.unknown(doubt))
        }
    }
}

extension BatchStateMachine.Finding {
    fileprivate var created: BatchStateMachine.Outcome {
        record.map { .created(recordId: $0.recordId, modId: $0.modId) } ?? .unknown(.gone)
    }
}
