// What follows an error: one line per class of errors, the same for all rows.

extension BatchStateMachine.Row {
    typealias Work = BatchStateMachine.Work
    typealias Move = BatchStateMachine.Move

    /// Returns what follows a call that failed.
    mutating func move(after trouble: BatchTrouble, of work: Work) -> Move {
        switch work {
        case .lookUp: moveAfterPoll(trouble)
        case .write(let found): move(after: trouble, ofWriteOver: found)
        }
    }

    /// A lookup changes nothing, so its error says nothing about the row.
    private mutating func moveAfterPoll(_ trouble: BatchTrouble) -> Move {
        pollHasFailed = true
        return switch trouble {
        case .busy, .passing, .outcomeUnknown, .garbled: .retry(.lookUp)
        case .recordMissing, .modIdMismatch, .notUnique, .fieldMissing, .refused, .hopeless: .giveUp
        }
    }

    private mutating func move(after trouble: BatchTrouble, ofWriteOver found: WrittenVersion?) -> Move {
        switch trouble {
        case .outcomeUnknown:
            mayBeExecuted = true
            lostAnswers += 1
            writtenOver = found
            misses = 0
            return settlingMove
        case .busy, .passing:
            return .retry(.write(over: found))
        case .recordMissing:
            return moveAfterMissing(over: found)
        case .modIdMismatch:
            return moveAfterMismatch
        case .notUnique:
            return moveAfterDouble(over: found)
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
    private var settlingMove: Move {
        switch task.kind {
        case .create(let hasKey): hasKey ? .goOn(.lookUp) : .finish(.unknown(.nothingToTellBy))
        case .edit, .upsert: .goOn(.lookUp)
        // A deleted record cannot be deleted again, so repeating the delete serves as the lookup.
        case .delete: .retry(.write(over: nil))
        case .unusable: .giveUp
        }
    }

    /// 101: there is no such record.
    private func moveAfterMissing(over found: WrittenVersion?) -> Move {
        switch task.kind {
        // After a lost answer it is unknown whether this batch deleted the record.
        case .delete: .finish(.deleted(wasThere: mayBeExecuted ? nil : false))
        // The record was deleted after the lookup.
        case .upsert where found != nil: .retry(.lookUp)
        case .create, .edit, .upsert, .unusable: .finish(.failed(.lastError))
        }
    }

    /// 306: the record has another modId than the edit is based on.
    private var moveAfterMismatch: Move {
        switch task.kind {
        // The first attempt may have arrived late and changed the record.
        case .edit where mayBeExecuted: .goOn(.lookUp)
        // The record was changed after the lookup; an upsert overwrites it.
        case .upsert: .retry(.lookUp)
        case .create, .edit, .delete, .unusable: .finish(.failed(.lastError))
        }
    }

    /// 504: a record with such a value exists.
    private mutating func moveAfterDouble(over found: WrittenVersion?) -> Move {
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
