import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMData
@testable import FMDataFleet

/// Members, a store and a table in memory, in which anything may happen in any order: records change while they are
/// read, members stand still or die, leases end, messages and answers get lost, the store goes away or forgets all.
/// When this ends, every member has what the table has, and one of them polls. A failure names its seed.
///
/// The members are the real machines and the real changes; only the shells around them are replaced.
@Suite(.timeLimit(.minutes(10))) struct FeedWorldTests {
    @Test(arguments: 0..<UInt64(Effort.of(40, brief: 1))) func whateverHappensAllHaveTheTableInTheEnd(block: UInt64) {
        for seed in (block * 50)..<(block * 50 + 50) {
            var world = World(seed: seed)
            for _ in 0..<200 { world.step() }
            world.settle()
            if let complaint = world.complaint {
                Issue.record("seed \(seed): \(complaint)\n\(world.told.suffix(60).joined(separator: "\n"))")
                return
            }
        }
    }

    @Test func whileNothingFailsAMemberThatComesPollsOnceHoweverBusyTheTableIs() {
        for seed in 0..<UInt64(Effort.of(1000, brief: 30)) {
            var world = World(seed: seed, isCalm: true)
            for _ in 0..<200 { world.busyStep() }
            let counts = world.followersPolls
            guard counts.allSatisfy({ $0 <= 1 }) else {
                Issue.record("seed \(seed): \(counts)\n\(world.told.joined(separator: "\n"))")
                return
            }
        }
    }
}

private struct Row: Equatable {
    let id: Int
    var modId = 0
    /// Whether the query finds it.
    var isFound = true

    var version: DataAPI.RecordVersion { .init(recordId: id, modId: modId) }
    var record: DataAPI.TypedLayout<FieldData>.Record {
        .init(fieldData: ["Text": .text("\(id) \(modId)")], recordId: id, modId: modId)
    }
    /// As a host sends it.
    var bytes: [UInt8] {
        Array(
            #"{"fieldData":{"Text":"\#(id) \#(modId)"},"portalData":{},"recordId":"\#(id)","modId":"\#(modId)"}"#.utf8
        )
    }
}

/// What the script does, for one feed.
private struct Store {
    var isUp = true
    var leader: (lease: Int, until: NIODeadline)?
    var epoch: String?
    var position = FeedCalls.Position()
    var digest = ""
    var entries: [FeedCalls.Entry] = []

    mutating func lead(_ member: Int, epoch new: String, members: Int, now: NIODeadline) -> FeedCalls.Led {
        let leads = leader.map { $0.lease == member || $0.until <= now } ?? true
        if leads {
            epoch = epoch ?? new
            leader = (member, now + .seconds(10))
        }
        return FeedCalls.Led(
            leads: leads,
            left: leads ? 1 : Int(((leader?.until ?? now) - now).nanoseconds / 1_000_000) + 1,
            epoch: epoch ?? "",
            position: position,
            members: members
        )
    }

    func read(_ epoch: String, after sequence: Int) -> FeedCalls.Read? {
        guard epoch == self.epoch else { return nil }
        // Some at once, as answers have a limit.
        let entries = entries.filter { $0.sequence > sequence }.prefix(3)
        return FeedCalls.Read(position: position, digest: digest, entries: Array(entries))
    }

    mutating func publish(
        _ member: Int,
        _ epoch: String,
        _ sequence: Int,
        _ changes: [UInt8]?,
        _ digest: String,
        now: NIODeadline
    ) -> FeedCalls.Position? {
        guard leader?.lease == member, epoch == self.epoch else { return nil }
        if let changes {
            if sequence != position.sequence {
                guard sequence == position.sequence + 1 else { return nil }
                position = .init(sequence: sequence, polls: position.polls + 1)
                entries.append(.init(sequence: sequence, poll: position.polls, data: changes))
                // The stream is cut.
                if entries.count > 8 { entries.removeFirst() }
                self.digest = digest
            }
        } else {
            position.polls += 1
            self.digest = digest
        }
        leader = (member, now + .seconds(10))
        return position
    }
}

private struct Member {
    let name: Int
    var machine = FeedMachine(settings: .init())
    var state = LiveState<FieldData>()
    var unsettled = UnsettledChanges()
    var mustPoll = false
    var isReset = false
    /// Whether it has been told that there is something to do.
    var isDue = true
    /// A poll under way: the rows that it has read, when it has.
    var poll: [Row]??
    var alarm: NIODeadline?
    var inbox: [String] = []
    var isStopped = false
    var polls = 0
}

private struct World {
    private var random: SeededRandom
    private var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private var rows: [Row] = (1...4).map { Row(id: $0) }
    private var lastID: Int
    private var store = Store()
    private var members: [Member]
    private var lastName = 0
    /// Whether everything works.
    private var isCalm: Bool
    private let reader = DataAPI.Server(host: "localhost").reader
    private let strategy = RereadPolling(maximum: .max)

    private(set) var told: [String] = []
    private(set) var complaint: String?

    /// - Parameter isCalm: whether everything works from the beginning, with one member at first.
    init(seed: UInt64, isCalm: Bool = false) {
        random = SeededRandom(seed: seed)
        self.isCalm = isCalm
        members = []
        if isCalm { rows = (1...30).map { Row(id: $0) } }
        lastID = rows.count
        let count = isCalm ? 1 : Int.random(in: 2...4, using: &random)
        for _ in 0..<count { members.append(makeMember()) }
    }

    private mutating func makeMember() -> Member {
        lastName += 1
        return Member(name: lastName)
    }

    private mutating func tell(_ text: String) { told.append(text) }

    private mutating func chance(_ number: Int) -> Bool { !isCalm && Int.random(in: 0..<number, using: &random) == 0 }

    private var found: [Row] { rows.filter(\.isFound) }

    // MARK: Steps

    mutating func step() {
        now = now + .milliseconds(Int64.random(in: 0...700, using: &random))
        let index = Int.random(in: members.indices, using: &random)
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<8: change()
        case 8..<14: ask(index)
        case 14..<22: goOn(index)
        case 22..<29: hear(index)
        case 29..<35: ring(index)
        case 35: act(index, members[index].machine.hinted())
        case 36:
            tell("\(members[index].name) rests")
            members[index].poll = nil
            act(index, members[index].machine.rested())
        case 37:
            members[index].isStopped.toggle()
            tell("\(members[index].name) \(members[index].isStopped ? "stands still" : "goes on")")
        case 38:
            tell("\(members[index].name) dies")
            members[index] = makeMember()
        default:
            if store.isUp, chance(3) {
                tell("the store forgets all")
                store = Store()
            }
            store.isUp.toggle()
            tell("the store is \(store.isUp ? "back" : "away")")
            if store.isUp { for index in members.indices { act(index, members[index].machine.connected()) } }
        }
    }

    /// Everything works, and records come, go and change while members poll. New members come.
    mutating func busyStep() {
        now = now + .milliseconds(Int64.random(in: 0...100, using: &random))
        for index in members.indices { ring(index) }
        let index = Int.random(in: members.indices, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: change(of: [.insertion, .edit].randomElement(using: &random) ?? .edit)
        // The leader has seen this one: of a record that is deleted before the leader's next poll it never hears.
        case 4: if rows.count > 20 { tell("delete \(rows.removeFirst().id)") }
        case 5..<9: ask(index)
        case 9..<14: goOn(index)
        case 14..<19: hear(index)
        // What went before the leader's first poll and after one's own, the leader never hears of either.
        default: if store.position.polls > 0, members.count < 5 { members.append(makeMember()) }
        }
    }

    /// How often each of those polled that do not lead.
    var followersPolls: [Int] { members.filter { $0.name != store.leader?.lease }.map(\.polls) }

    /// Lets everything work, and time pass.
    mutating func settle() {
        isCalm = true
        store.isUp = true
        for index in members.indices {
            members[index].isStopped = false
            act(index, members[index].machine.connected())
        }
        var polls: [Int] = []
        for round in 0..<40 {
            now = now + .seconds(2)
            if round == 20 { polls = members.map(\.polls) }
            for index in members.indices {
                while !members[index].inbox.isEmpty { hear(index) }
                ring(index)
                // A pause is over.
                members[index].isDue = true
                ask(index)
                while members[index].poll != nil { goOn(index) }
                while members[index].isDue {
                    ask(index)
                    while members[index].poll != nil { goOn(index) }
                    if told.count > 100_000 {
                        complaint = "it never rests"
                        return
                    }
                }
            }
        }
        for member in members where member.state.records.map(\.version) != found.map(\.version) {
            complaint = "\(member.name) has \(member.state.ids), the table \(found.map(\.id))"
            return
        }
        let polling = zip(members, polls).filter { $0.polls > $1 }
        if polling.count != 1 { complaint = "\(polling.map(\.0.name)) poll" }
    }

    private enum Change: CaseIterable { case insertion, deletion, leaving, move, edit, anotherEdit }

    private mutating func change() { change(of: Change.allCases.randomElement(using: &random) ?? .edit) }

    private mutating func change(of kind: Change) {
        guard let place = rows.indices.randomElement(using: &random) else {
            lastID += 1
            return rows.append(Row(id: lastID))
        }
        switch kind {
        case .insertion:
            lastID += 1
            rows.append(Row(id: lastID))
            tell("insert \(lastID)")
        case .deletion:
            tell("delete \(rows[place].id)")
            rows.remove(at: place)
        case .leaving:
            // By a related record, so that it has the same modId.
            rows[place].isFound.toggle()
            tell("\(rows[place].isFound ? "return" : "leave") \(rows[place].id)")
        case .move:
            rows.swapAt(place, rows.count - 1)
            tell("order \(rows.map(\.id))")
        case .edit, .anotherEdit:
            rows[place].modId += 1
            tell("edit \(rows[place].id) to \(rows[place].modId)")
        }
    }

    // MARK: A member

    private mutating func ask(_ index: Int) {
        guard members[index].poll == nil, !members[index].isStopped else { return }
        members[index].isDue = false
        let mustPoll = members[index].mustPoll || members[index].state.isBlank
        var step = members[index].machine.asked(mustPoll: mustPoll, now: now)
        while true {
            switch step {
            case .lead: step = lead(index) ? members[index].machine.step() : failed(index)
            case .read(let epoch, let sequence):
                guard store.isUp, !chance(12) else {
                    step = failed(index)
                    continue
                }
                let result = members[index].machine.read(store.read(epoch, after: sequence))
                act(index, result.actions)
                step = result.step
            case .poll:
                tell("\(members[index].name) polls, \(members[index].machine.role)")
                members[index].mustPoll = false
                members[index].polls += 1
                members[index].poll = .some(nil)
                return
            case .adopt(let entries, let comparableFrom, let conclusion):
                return adopt(index, entries, comparableFrom, conclusion)
            }
        }
    }

    private mutating func failed(_ index: Int) -> FeedMachine.Step {
        let result = members[index].machine.failed(now: now)
        act(index, result.actions)
        return result.step
    }

    private mutating func adopt(
        _ index: Int,
        _ entries: [FeedCalls.Entry],
        _ comparableFrom: Int?,
        _ conclusion: FeedCalls.Read?
    ) {
        let changes = entries.map { entry in
            DataAPI.LiveExchange.Changes(bytes: entry.data, mayBeOlder: entry.poll + 1 < comparableFrom ?? .max)
        }
        let reader = reader
        let settled = members[index].unsettled.adopting(.init(changes: changes, digest: conclusion?.digest))
        let adopted = AdoptedChanges(settled, into: members[index].state, strategy) { try reader.attempts(of: $0) }
        accept(index, adopted.findings, gone: adopted.findings.gone)
        members[index].isReset = members[index].isReset || adopted.isReset
        let isAstray = !adopted.mustPoll && conclusion.map { !members[index].state.meets($0.digest) } ?? false
        tell("\(members[index].name) adopts \(entries.map(\.sequence)) \(isAstray ? "and is astray" : "")")
        if adopted.mustPoll || isAstray {
            members[index].mustPoll = true
            members[index].isDue = true
        }
    }

    private mutating func accept(
        _ index: Int,
        _ findings: PollFindings<FieldData>,
        gone: [Int: DataAPI.RemovalReason]
    ) {
        members[index].state =
            members[index].state
            .next(
                findings,
                gone: gone,
                overtaken: [],
                ChangePolicy(areEqual: { $0.fieldData == $1.fieldData }),
                origin: .poll,
                asOf: now
            )
            .state
    }

    /// The next part of a poll: it reads the table at one moment, and ends at another one.
    private mutating func goOn(_ index: Int) {
        guard let poll = members[index].poll, !members[index].isStopped else { return }
        guard let read = poll else {
            members[index].poll = .some(found)
            return
        }
        members[index].poll = nil
        let old = members[index].state
        let ids = Set(read.map(\.id))
        let gone = old.ids.filter { !ids.contains($0) }.map { ($0, DataAPI.RemovalReason.left) }
        var findings = PollFindings<FieldData>(
            order: read.map(\.id),
            read: read.map { .record($0.record) },
            strategy: strategy
        )
        findings.isOfOtherFile = members[index].isReset
        members[index].isReset = false
        members[index].unsettled.polled()
        accept(index, findings, gone: Dictionary(gone) { $1 })
        let new = members[index].state
        let tap = RecordTap { _ in false }
        for row in read { tap.keep(row.bytes, of: row.version) }
        let changes = old.isBlank ? nil : PolledChanges(from: old, to: new, tap)
        switch members[index].machine.polled(now: now) {
        case .lead: if !lead(index) { act(index, members[index].machine.unanswered(now: now)) }
        case .publish(let epoch, let sequence):
            let isLost = chance(12)
            guard store.isUp else { return act(index, members[index].machine.unpublished(now: now)) }
            let position = store.publish(
                members[index].name,
                epoch,
                sequence,
                changes?.bytes,
                new.digest,
                now: now
            )
            tell("\(members[index].name) publishes \(sequence): \(position.map { "\($0)" } ?? "refused")")
            if let position { publish("\(position.sequence) \(position.polls)") }
            if isLost { return act(index, members[index].machine.unpublished(now: now)) }
            act(index, members[index].machine.published(position, asked: now, now: now))
        }
    }

    private mutating func lead(_ index: Int) -> Bool {
        guard store.isUp, !chance(12) else { return false }
        let led = store.lead(members[index].name, epoch: "e\(told.count)", members: members.count, now: now)
        // The answer may be lost after it was done.
        if chance(12) { return false }
        act(index, members[index].machine.led(led, asked: now, now: now, jitter: 0.5))
        return true
    }

    private mutating func hear(_ index: Int) {
        guard !members[index].inbox.isEmpty, !members[index].isStopped else { return }
        let text = members[index].inbox.removeFirst()
        if !chance(6) { act(index, members[index].machine.message(text)) }
    }

    private mutating func ring(_ index: Int) {
        guard let alarm = members[index].alarm, alarm <= now, !members[index].isStopped else { return }
        members[index].alarm = nil
        act(index, members[index].machine.wakeUp(now: now))
    }

    private mutating func publish(_ text: String) {
        for index in members.indices { members[index].inbox.append(text) }
    }

    private mutating func act(_ index: Int, _ actions: [FeedMachine.Action]) {
        for action in actions {
            switch action {
            case .tell: members[index].isDue = true
            case .lead: if !lead(index) { act(index, members[index].machine.unanswered(now: now)) }
            case .hold:
                guard store.isUp, !chance(12) else {
                    act(index, members[index].machine.unanswered(now: now))
                    continue
                }
                let isHeld = store.leader?.lease == members[index].name
                if isHeld { store.leader?.until = now + .seconds(10) }
                act(
                    index,
                    members[index].machine.held(isHeld ? store.position : nil, asked: now, now: now)
                )
            case .resign:
                guard store.isUp, store.leader?.lease == members[index].name else { continue }
                store.leader = nil
                publish("v")
            case .hint: if store.isUp { publish("w") }
            case .setAlarm(let instant): members[index].alarm = instant
            case .cancelAlarm: members[index].alarm = nil
            }
        }
    }
}
