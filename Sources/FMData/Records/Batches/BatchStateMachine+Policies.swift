// What went wrong, and what then: for each error class one line, the same for all rows.

extension BatchStateMachine.Row {
    typealias Work = BatchStateMachine.Work
    typealias Move = BatchStateMachine.Move

    /// What comes after a call that failed.
    mutating func move(after trouble: BatchTrouble, of work: Work) -> Move {
        switch work {
        case .lookUp: moveAfterLook(trouble)
        case .write(let found): move(after: trouble, ofWriteOver: found)
        }
    }

    /// A look changes nothing: what it failed of says nothing about the row.
    private mutating func moveAfterLook(_ trouble: BatchTrouble) -> Move {
        lookHasFailed = true
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
        // That a delete is refused now, say since nobody is let in, says nothing of the one before whose answer was lost.
        case .refused where task.kind == .delete, .garbled where task.kind == .delete:
            return .giveUp
        case .fieldMissing, .refused, .garbled:
            return .finish(.failed(.lastError))
        case .hopeless:
            return .giveUp
        }
    }

    /// How to find out whether a write has been carried out.
    private var settlingMove: Move {
        switch task.kind {
        case .create(let hasKey): hasKey ? .goOn(.lookUp) : .finish(.unknown(.nothingToTellBy))
        case .edit, .upsert: .goOn(.lookUp)
        // What is gone cannot be deleted a second time: to repeat it is the look.
        case .delete: .retry(.write(over: nil))
        case .unusable: .giveUp
        }
    }

    /// 101: there is no such record.
    private func moveAfterMissing(over found: WrittenVersion?) -> Move {
        switch task.kind {
        // Whether it was this batch that deleted it, nobody can say after an answer that was lost.
        case .delete: .finish(.deleted(wasThere: mayBeExecuted ? nil : false))
        // It was deleted since it was found.
        case .upsert where found != nil: .retry(.lookUp)
        case .create, .edit, .upsert, .unusable: .finish(.failed(.lastError))
        }
    }

    /// 306: the record has another modId than the edit was made for.
    private var moveAfterMismatch: Move {
        switch task.kind {
        // The first attempt may have arrived late, and changed it.
        case .edit where mayBeExecuted: .goOn(.lookUp)
        // It was changed since it was found; an upsert overwrites.
        case .upsert: .retry(.lookUp)
        case .create, .edit, .delete, .unusable: .finish(.failed(.lastError))
        }
    }

    /// 504: there is a record with such a value.
    private mutating func moveAfterDouble(over found: WrittenVersion?) -> Move {
        switch task.kind {
        // It may be the record that the first attempt made; or, of an upsert, one that somebody made since none was found.
        case .create(hasKey: true) where hasLostAnswers && !isRefusedAsDouble,
            .upsert where found == nil && !isRefusedAsDouble:
            isRefusedAsDouble = true
            return .goOn(.lookUp)
        case .create, .edit, .delete, .upsert, .unusable:
            return .finish(.failed(.lastError))
        }
    }
}
