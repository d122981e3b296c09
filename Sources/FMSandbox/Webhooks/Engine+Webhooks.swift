/// Commits that webhooks hear of.
extension Engine {
    /// Puts a new world in place of the old one. Returns the numbers of the webhooks that somebody has to begin to deliver for.
    func put(_ world: World, in state: inout State) -> [Int] {
        let idle = state.webhooks.committed(from: state.world, to: world)
        state.world = world
        state.worldVersion += 1
        return idle
    }

    /// Begins to deliver. Not to be called with the state locked.
    func deliver(_ webhooks: [Int]) {
        for number in webhooks { webhookSender.work(on: number, of: self) }
    }

    /// Deletes all records of a table, without a look at any of them.
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
