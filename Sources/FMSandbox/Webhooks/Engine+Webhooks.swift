/// Commits, and their notifications of webhooks.
extension Engine {
    /// Replaces the world. Returns the numbers of the webhooks whose delivery must be started with ``deliver(_:)``.
    func put(_ world: World, in state: inout State) -> [Int] {
        let idle = state.webhooks.committed(from: state.world, to: world)
        state.world = world
        state.worldVersion += 1
        return idle
    }

    /// Starts deliveries. It must not be called while the state is locked.
    func deliver(_ webhooks: [Int]) {
        for number in webhooks { webhookSender.work(on: number, of: self) }
    }

    /// Deletes all records of a table, without checks of the single records.
    func truncate(_ table: Int) {
        let idle = withState { state in
            for record in state.world.tables[table].records { state.world.tables[table].remove(record.id) }
            state.worldVersion += 1
            guard case .webhooks(let traits) = configuration.odata, traits.firesOnTruncate else { return [Int]() }
            return state.webhooks.truncated(table)
        }
        deliver(idle)
    }
}
