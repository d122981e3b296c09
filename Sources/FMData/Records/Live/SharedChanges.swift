import NIOConcurrencyHelpers

/// What leads to a state of a live query from those before it: while its subscribers are told, worked out once for all who are
/// equally far.
final class SharedChanges<R: RecordFields>: Sendable {
    /// By the edition from which they lead; `nil` when all have been told.
    private let known = NIOLockedValueBox<[Int: DataAPI.ChangeSet<R>]?>([:])

    func since(_ edition: Int, _ workOut: () -> DataAPI.ChangeSet<R>) -> DataAPI.ChangeSet<R> {
        if let changes = known.withLockedValue({ $0?[edition] }) { return changes }
        let changes = workOut()
        known.withLockedValue { $0?[edition] = changes }
        return changes
    }

    /// Who comes later works it out alone, so that records which are gone are kept by nobody here.
    func allAreTold() {
        let told = known.withLockedValue { known in
            defer { known = nil }
            return known
        }
        // Records are other people's types, and are let go outside of the lock.
        withExtendedLifetime(told) {}
    }
}
