import NIOConcurrencyHelpers

/// The change sets that lead to one state of a live query from earlier ones. While subscribers are notified, each is
/// computed once for all subscribers that have the same earlier state.
final class SharedChanges<R: RecordFields>: Sendable {
    /// Change sets by the `LiveState.edition` of the earlier state; `nil` when all subscribers were notified.
    private let known = NIOLockedValueBox<[Int: DataAPI.ChangeSet<R>]?>([:])

    func since(_ edition: Int, _ workOut: () -> DataAPI.ChangeSet<R>) -> DataAPI.ChangeSet<R> {
        if let changes = known.withLockedValue({ $0?[edition] }) { return changes }
        let changes = workOut()
        known.withLockedValue { $0?[edition] = changes }
        return changes
    }

    /// Ends the sharing. Later subscribers compute their change sets themselves, so that removed records are not kept
    /// alive here.
    func allAreTold() {
        let told = known.withLockedValue { known in
            defer { known = nil }
            return known
        }
        // Records are of the user's types, whose code may run when they are released: release them outside of the lock.
        withExtendedLifetime(told) {}
    }
}
