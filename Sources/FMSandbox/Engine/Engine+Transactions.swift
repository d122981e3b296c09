/// Transactions of scripts: all of their changes become part of the world at once, or none.
extension Engine {
    func openTransaction() -> Transaction {
        withState { state in
            state.transactionCount += 1
            return Transaction(number: state.transactionCount, world: state.world, version: state.worldVersion)
        }
    }

    /// Updates a transaction to what others have committed meanwhile.
    func refresh(_ transaction: inout Transaction) {
        withState { transaction.follow($0.world, $0.worldVersion) }
    }

    /// Changes records within a transaction. The records that the body changes are locked from then on.
    func change<Result>(
        in transaction: inout Transaction,
        of session: Session,
        _ body: (Transaction) throws -> (RecordWriter, Result)
    ) throws -> Result {
        try withState { state in
            try state.check(session)
            transaction.follow(state.world, state.worldVersion)
            let (writer, result) = try body(transaction)
            transaction.take(writer)
            transaction.lock(&state.world)
            return result
        }
    }

    /// Makes the changes of a transaction part of the world, or none of them if the body throws. Either way the
    /// transaction ends.
    ///
    /// - Parameter body: Makes the changes that were deferred until the commit.
    func commit(
        _ transaction: Transaction,
        of session: Session,
        _ body: (Transaction) throws -> RecordWriter
    ) throws {
        var transaction = transaction
        let idleWebhooks = try withState { state in
            defer { state.world.release(transaction.number) }
            try state.check(session)
            transaction.follow(state.world, state.worldVersion)
            return put(try body(transaction).world, in: &state)
        }
        deliver(idleWebhooks)
    }

    /// Releases the transaction's locks. The record ids and serial numbers that it used stay used.
    func revert(_ transaction: Transaction) {
        withState { $0.world.release(transaction.number) }
    }
}
