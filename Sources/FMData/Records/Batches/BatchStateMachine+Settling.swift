// A write whose outcome nobody knows is looked up before it is repeated: what a look finds, and what that proves.
//
//     create    by its key        one record: it is ours · none, twice: it was not carried out, send it · several: who knows
//     edit      by id and modId   the base: not carried out, send it, the modId guards it · base + 1 and our fields: it is ours
//     edit      by id alone       our fields: done, by whomever · others: unknown for good
//     upsert    by its key        our fields: it is ours · else write again: an upsert overwrites
//     delete    by itself         sent again; 101 says that the record is gone

extension BatchStateMachine.Row {
    typealias Finding = BatchStateMachine.Finding

    /// What comes after a call that was answered.
    mutating func move(after answer: BatchStateMachine.Answer) -> Move {
        switch answer {
        case .created(let recordId, let modId): .finish(.created(recordId: recordId, modId: modId))
        case .edited(let recordId, let modId): .finish(.edited(recordId: recordId, modId: modId))
        case .deleted: .finish(.deleted(wasThere: true))
        case .found(let finding): move(after: finding)
        case .trouble: .giveUp
        }
    }

    private mutating func move(after finding: Finding) -> Move {
        guard finding.count <= 1 else { return .finish(.failed(.ambiguousKey)) }
        switch task.kind {
        case .create: return moveOfCreate(after: finding)
        case .edit(let base): return moveOfEdit(of: base, after: finding)
        case .upsert: return mayBeExecuted ? moveOfUpsert(after: finding) : firstMoveOfUpsert(after: finding)
        case .delete, .unusable: return .giveUp
        }
    }

    private mutating func moveOfCreate(after finding: Finding) -> Move {
        guard let record = finding.record else { return moveAfterMiss }
        return .finish(.created(recordId: record.recordId, modId: record.modId))
    }

    /// No record has the key. Only when it is still so some time later is that taken for the truth.
    private var moveAfterMiss: Move {
        mutating get {
            // The double that the server spoke of has another field's value.
            if isRefusedAsDouble { return .finish(.failed(.lastError)) }
            misses += 1
            if misses < 2 { return .lookAgain }
            misses = 0
            return mayBeOnItsWay ? .retry(.write(over: nil)) : .goOn(.write(over: nil))
        }
    }

    private mutating func moveOfEdit(of base: Int?, after finding: Finding) -> Move {
        guard let record = finding.record else { return .finish(.failed(.recordMissing)) }
        let edited = Move.finish(.edited(recordId: record.recordId, modId: record.modId))
        if let base {
            if record.modId == base { return .retry(.write(over: nil)) }
            return record.modId == base + 1 && finding.isSame ? edited : .finish(.failed(.conflict))
        }
        if finding.isSame { return edited }
        misses += 1
        return misses < 2 ? .lookAgain : .finish(.unknown)
    }

    /// Nothing has been written yet.
    private func firstMoveOfUpsert(after finding: Finding) -> Move {
        if let record = finding.record { return .goOn(.write(over: record)) }
        return isRefusedAsDouble ? .finish(.failed(.lastError)) : .goOn(.write(over: nil))
    }

    private mutating func moveOfUpsert(after finding: Finding) -> Move {
        guard let record = finding.record else {
            // A record that is gone cannot have been edited.
            return writtenOver == nil ? moveAfterMiss : .retry(.write(over: nil))
        }
        guard finding.isSame else { return .retry(.write(over: record)) }
        return .finish(
            writtenOver == nil
                ? .created(recordId: record.recordId, modId: record.modId)
                : .edited(recordId: record.recordId, modId: record.modId)
        )
    }
}
