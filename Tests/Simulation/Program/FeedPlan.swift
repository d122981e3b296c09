extension Program {
    /// Draws live queries that several processes have, and writes by them and by others, for every third program
    /// of a fleet.
    mutating func planFeeds(_ span: Int, _ chance: inout Chance) {
        guard let fleet, chance.once(in: 3) else { return }
        let queries: [Verb] = chance.pick([
            [.live], [.live], [.live, .changes], [.live, .liveFound], [.liveByStamp, .live], [.liveByScan, .liveFound],
        ])
        let end = span + 20_000
        for member in fleet.members.indices {
            for query in queries where !chance.once(in: 6) { addStep(query, chance.below(span), member, &chance) }
        }
        if !isCalm { troubleLeaders(end, fleet.members.count, &chance) }
        // Whoever is started again watches again.
        for case .member(let time, let member, .kill(let pause?)) in faults {
            addStep(chance.pick(queries), time + pause + chance.below(5000), member, &chance)
        }
        for case .member(let time, let member, .shutDown(let pause?)) in faults {
            addStep(chance.pick(queries), time + pause + 15_000 + chance.below(20_000), member, &chance)
        }
        let writes: [Verb] = [
            .hint, .createByOthers, .createByOthers, .editByOthers, .editByOthers, .deleteByOthers, .create, .edit,
            .delete,
        ]
        for _ in 0..<chance.pick([2, 6, 12]) {
            addStep(chance.pick(writes), chance.below(end), chance.below(fleet.members.count), &chance)
        }
    }

    private mutating func addStep(_ verb: Verb, _ time: Int, _ member: Int, _ chance: inout Chance) {
        var step = Step(id: steps.count, time: time, host: 0, verb: verb, demand: .unlimited)
        step.member = member
        if verb.isWatching {
            step.demand = isCalm ? .unlimited : chance.pick([.unlimited, .unlimited, .slowly(milliseconds: 5000)])
            if !isCalm, chance.once(in: 6) { step.cancel = .after(milliseconds: chance.magnitude(1...100_000)) }
        }
        steps.append(step)
        hosts[0].records = max(hosts[0].records, steps.count)
    }

    /// Stops leaders in several ways: which process leads is not known, so each is as likely.
    private mutating func troubleLeaders(_ span: Int, _ members: Int, _ chance: inout Chance) {
        for _ in 0..<chance.pick([0, 1, 3]) {
            let event: MemberEvent =
                switch chance.below(4) {
                case 0: .shutDown(restartsAfter: chance.pick([nil, 0, 5000]))
                case 1: .kill(restartsAfter: chance.pick([nil, 0, 20_000]))
                default: .stall(milliseconds: 9000 + chance.below(30_000))
                }
            faults.append(.member(milliseconds: chance.below(span), chance.below(members), event))
        }
    }
}
