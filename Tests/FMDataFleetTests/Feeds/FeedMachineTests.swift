import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataFleet

/// Who polls, what is read, and what it means.
@Suite struct FeedMachineTests {
    private typealias Position = FeedCalls.Position

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func at(_ amount: TimeAmount) -> NIODeadline { Self.start + amount }

    private static func led(_ leads: Bool, _ sequence: Int = 0, polls: Int = 0, members: Int = 2) -> FeedCalls.Led {
        FeedCalls.Led(
            leads: leads,
            left: leads ? 0 : 4000,
            epoch: "e",
            position: Position(sequence: sequence, polls: polls),
            members: members
        )
    }

    private static func entry(_ sequence: Int, poll: Int) -> FeedCalls.Entry {
        FeedCalls.Entry(sequence: sequence, poll: poll, data: [UInt8(sequence)])
    }

    private static func read(_ entries: [FeedCalls.Entry], _ sequence: Int, polls: Int) -> FeedCalls.Read {
        FeedCalls.Read(position: Position(sequence: sequence, polls: polls), digest: "d", entries: entries)
    }

    /// The first member, which has begun to poll.
    private func makeLeader() -> FeedMachine {
        var machine = FeedMachine(settings: .init())
        _ = machine.asked(mustPoll: true, now: Self.start)
        _ = machine.led(Self.led(true), asked: Self.start, now: Self.start, jitter: 0.5)
        _ = machine.step()
        return machine
    }

    /// A member that has polled once by itself, while the leader has made its fifth poll.
    private func makeFollower() -> FeedMachine {
        var machine = FeedMachine(settings: .init())
        _ = machine.asked(mustPoll: true, now: Self.start)
        _ = machine.led(Self.led(false, 3, polls: 4), asked: Self.start, now: Self.start, jitter: 0.5)
        _ = machine.step()
        _ = machine.polled(now: Self.start)
        _ = machine.led(Self.led(false, 3, polls: 5), asked: Self.start, now: Self.start, jitter: 0.5)
        return machine
    }

    // MARK: Leading

    @Test func whoeverComesFirstPollsForAll() {
        var machine = FeedMachine(settings: .init())
        expectNoDifference(machine.asked(mustPoll: true, now: Self.start), .lead)
        expectNoDifference(
            machine.led(Self.led(true), asked: Self.start, now: at(.seconds(1)), jitter: 0.5),
            [.tell(.news), .setAlarm(at(.seconds(4)))]
        )
        expectNoDifference(machine.role, .leading(until: at(.seconds(8))))
        expectNoDifference(machine.step(), .poll(pace: 1))
        expectNoDifference(machine.polled(now: at(.seconds(2))), .publish(epoch: "e", sequence: 1))
        expectNoDifference(
            machine.published(Position(sequence: 0, polls: 1), asked: at(.seconds(2)), now: at(.seconds(2))),
            [.setAlarm(at(.seconds(5)))]
        )
        expectNoDifference(machine.asked(mustPoll: false, now: at(.seconds(3))), .poll(pace: 1))
        expectNoDifference(machine.polled(now: at(.seconds(3))), .publish(epoch: "e", sequence: 1))
    }

    @Test func aLeaderRenewsItsLeaseAndAsksAgainWhenItIsOver() {
        var machine = makeLeader()
        expectNoDifference(machine.wakeUp(now: at(.seconds(3))), [.hold, .setAlarm(at(.seconds(6)))])
        expectNoDifference(
            machine.held(Position(), asked: at(.seconds(3)), now: at(.seconds(3))),
            [.setAlarm(at(.seconds(6)))]
        )
        expectNoDifference(machine.role, .leading(until: at(.seconds(11))))
        // It stood still for a minute.
        expectNoDifference(machine.asked(mustPoll: false, now: at(.seconds(60))), .lead)
    }

    @Test func aLeaderThatAwakesTooLateIsRefusedAndFollows() {
        var machine = makeLeader()
        _ = machine.polled(now: at(.seconds(60)))
        expectNoDifference(machine.published(nil, asked: at(.seconds(60)), now: at(.seconds(60))), [.lead])
        let actions = machine.led(
            Self.led(false, 2, polls: 9),
            asked: at(.seconds(60)),
            now: at(.seconds(60)),
            jitter: 0
        )
        expectNoDifference(actions, [.tell(.news), .setAlarm(at(.seconds(64)))])
        expectNoDifference(machine.role, .following)
        // What others have found meanwhile may be older than its own poll.
        expectNoDifference(machine.asked(mustPoll: false, now: at(.seconds(61))), .read(epoch: "e", after: 0))
        let entries = [Self.entry(1, poll: 8), Self.entry(2, poll: 9)]
        expectNoDifference(
            machine.read(Self.read(entries, 2, polls: 9)).step,
            .adopt(entries, comparableFrom: 11, conclusion: nil)
        )
    }

    @Test func whoeverIsConnectedAgainAsksWhatItHasMissed() {
        expectNoDifference(makeLeader().connected(), [.hold])
        expectNoDifference(makeFollower().connected(), [.lead])
        var machine = FeedMachine(settings: .init())
        expectNoDifference(machine.connected(), [])
        // It is asking already.
        _ = machine.asked(mustPoll: true, now: Self.start)
        expectNoDifference(machine.connected(), [])
        _ = machine.failed(now: Self.start)
        expectNoDifference(machine.connected(), [.lead])
    }

    @Test func whoeverRestsResigns() {
        var machine = makeLeader()
        expectNoDifference(machine.rested(), [.resign, .cancelAlarm])
        expectNoDifference(machine.rested(), [])
        expectNoDifference(machine.message("w"), [])
        expectNoDifference(machine.asked(mustPoll: false, now: Self.start), .lead)
    }

    @Test func whoeverGetsTheLeadAfterItHasRestedGivesItBack() {
        var machine = makeFollower()
        expectNoDifference(machine.rested(), [.cancelAlarm])
        expectNoDifference(machine.led(Self.led(true), asked: Self.start, now: Self.start, jitter: 0), [.resign])
        expectNoDifference(machine.role, .resting)
    }

    // MARK: Following

    @Test func aFollowerPollsOnceAndThenReads() {
        var machine = FeedMachine(settings: .init())
        expectNoDifference(machine.asked(mustPoll: true, now: Self.start), .lead)
        expectNoDifference(
            machine.led(Self.led(false, 3, polls: 4), asked: Self.start, now: Self.start, jitter: 0.5),
            [.tell(.news), .setAlarm(at(.milliseconds(4500)))]
        )
        expectNoDifference(machine.step(), .poll(pace: 1))
        expectNoDifference(machine.polled(now: Self.start), .lead)
        expectNoDifference(machine.applied, 3)
        expectNoDifference(
            machine.led(Self.led(false, 4, polls: 5), asked: Self.start, now: Self.start, jitter: 0),
            [.tell(.news), .setAlarm(at(.seconds(4)))]
        )
        expectNoDifference(machine.asked(mustPoll: false, now: Self.start), .read(epoch: "e", after: 3))
        let entry = Self.entry(4, poll: 5)
        expectNoDifference(
            machine.read(Self.read([entry], 4, polls: 5)).step,
            .adopt([entry], comparableFrom: 7, conclusion: nil)
        )
    }

    @Test func theSecondPollAfterItsOwnIsTheFirstThatIsCompared() {
        var machine = makeFollower()
        expectNoDifference(machine.message("3 6"), [])
        expectNoDifference(machine.message("3 7"), [.tell(.news)])
        _ = machine.asked(mustPoll: false, now: Self.start)
        let seventh = Self.read([], 3, polls: 7)
        expectNoDifference(machine.read(seventh).step, .adopt([], comparableFrom: 7, conclusion: seventh))
        // From now on it is told of changes only.
        expectNoDifference(machine.message("3 8"), [])
        expectNoDifference(machine.message("4 9"), [.tell(.news)])
    }

    @Test func whatIsTooMuchForOneAnswerIsReadInParts() {
        var machine = makeFollower()
        let (step, actions) = machine.read(Self.read([Self.entry(4, poll: 8)], 6, polls: 9))
        expectNoDifference(step, .adopt([Self.entry(4, poll: 8)], comparableFrom: 7, conclusion: nil))
        expectNoDifference(actions, [.tell(.news)])
        expectNoDifference(machine.asked(mustPoll: false, now: Self.start), .read(epoch: "e", after: 4))
    }

    @Test(arguments: [[5], [4, 6], []]) func entriesThatAreGoneMakeAFollowerPoll(sequences: [Int]) {
        var machine = makeFollower()
        let entries = sequences.map { Self.entry($0, poll: 9) }
        expectNoDifference(machine.read(Self.read(entries, 6, polls: 9)).step, .poll(pace: 1))
        _ = machine.polled(now: Self.start)
        expectNoDifference(machine.applied, 6)
    }

    @Test func aStoreThatHasForgottenItsLastSecondMakesAFollowerPoll() {
        var machine = makeFollower()
        expectNoDifference(machine.read(Self.read([], 2, polls: 4)).step, .poll(pace: 1))
    }

    @Test func aFeedThatBeginsAnewMakesAFollowerPoll() {
        var machine = makeFollower()
        expectNoDifference(machine.read(nil).step, .lead)
        var led = Self.led(true)
        led.epoch = "new"
        _ = machine.led(led, asked: Self.start, now: Self.start, jitter: 0)
        expectNoDifference(machine.step(), .poll(pace: 1))
        expectNoDifference(machine.polled(now: Self.start), .publish(epoch: "new", sequence: 1))
    }

    @Test func whatCannotBeOpenedMakesAFollowerPoll() {
        var machine = makeFollower()
        _ = machine.read(Self.read([Self.entry(4, poll: 8)], 4, polls: 9))
        expectNoDifference(machine.isUnreadable(), .poll(pace: 1))
    }

    @Test func aHintGoesToWhoeverLeads() {
        var follower = makeFollower()
        expectNoDifference(follower.hinted(), [.hint])
        expectNoDifference(follower.message("w"), [])
        var leader = makeLeader()
        expectNoDifference(leader.hinted(), [])
        expectNoDifference(leader.message("w"), [.tell(.hint)])
    }

    @Test(arguments: ["", "x", "1", "1 2 3", "-", "99999999999999999999 1"])
    func aMessageThatIsNoneIsIgnored(text: String) {
        var machine = makeFollower()
        expectNoDifference(machine.message(text), [])
    }

    // MARK: Taking over

    @Test func aDeadLeaderIsFollowedWithinItsLeaseAndASecond() {
        var machine = makeFollower()
        // The leader's lease ends in four seconds; the alarm is up to one later.
        for (jitter, due) in [(0.0, TimeAmount.seconds(4)), (1.0, .seconds(5))] {
            let actions = machine.led(
                Self.led(false, 3, polls: 5),
                asked: Self.start,
                now: Self.start,
                jitter: jitter
            )
            expectNoDifference(actions, [.setAlarm(at(due))])
        }
        expectNoDifference(machine.wakeUp(now: at(.seconds(5))), [.lead, .setAlarm(at(.seconds(7)))])
        expectNoDifference(
            machine.led(Self.led(true, 3, polls: 5), asked: at(.seconds(5)), now: at(.seconds(5)), jitter: 0),
            [.tell(.news), .setAlarm(at(.seconds(8)))]
        )
        expectNoDifference(machine.asked(mustPoll: false, now: at(.seconds(5))), .poll(pace: 1))
    }

    @Test func whoeverResignsIsFollowedAtOnce() {
        var machine = makeFollower()
        expectNoDifference(machine.message("v"), [.lead])
    }

    @Test func theNextLeaderAdoptsWhatItHasNotReadYetBeforeItPolls() {
        var machine = makeFollower()
        _ = machine.led(Self.led(true, 4, polls: 8), asked: Self.start, now: Self.start, jitter: 0)
        expectNoDifference(machine.asked(mustPoll: false, now: Self.start), .read(epoch: "e", after: 3))
        let (step, actions) = machine.read(Self.read([Self.entry(4, poll: 8)], 4, polls: 8))
        let read = Self.read([Self.entry(4, poll: 8)], 4, polls: 8)
        expectNoDifference(step, .adopt(read.entries, comparableFrom: 7, conclusion: read))
        expectNoDifference(actions, [.tell(.news)])
        expectNoDifference(machine.asked(mustPoll: false, now: Self.start), .poll(pace: 1))
        expectNoDifference(machine.polled(now: Self.start), .publish(epoch: "e", sequence: 5))
    }

    // MARK: The store is away

    @Test func afterTwentySecondsEverybodyPollsSlowly() {
        var machine = makeFollower()
        _ = machine.led(
            Self.led(false, 3, polls: 5, members: 8),
            asked: Self.start,
            now: Self.start,
            jitter: 0
        )
        var (step, actions) = machine.failed(now: Self.start)
        expectNoDifference(step, .adopt([], comparableFrom: nil, conclusion: nil))
        expectNoDifference(actions, [.setAlarm(at(.seconds(2)))])
        expectNoDifference(machine.wakeUp(now: at(.seconds(19))), [.lead, .setAlarm(at(.seconds(21)))])
        expectNoDifference(machine.unanswered(now: at(.seconds(19))), [.setAlarm(at(.seconds(21)))])
        expectNoDifference(
            machine.unanswered(now: at(.seconds(21))),
            [.tell(.news), .setAlarm(at(.seconds(23)))]
        )
        expectNoDifference(machine.asked(mustPoll: false, now: at(.seconds(21))), .lead)
        (step, actions) = machine.failed(now: at(.seconds(21)))
        expectNoDifference(step, .poll(pace: 8))
        expectNoDifference(machine.polled(now: at(.seconds(22))), .lead)
        expectNoDifference(machine.connected(), [.lead])
        // The store is back, with what it had: what it has may be older than the poll.
        _ = machine.led(Self.led(false, 4, polls: 6), asked: at(.seconds(30)), now: at(.seconds(30)), jitter: 0)
        expectNoDifference(machine.asked(mustPoll: false, now: at(.seconds(30))), .read(epoch: "e", after: 3))
        expectNoDifference(
            machine.read(Self.read([Self.entry(4, poll: 6)], 4, polls: 6)).step,
            .adopt([Self.entry(4, poll: 6)], comparableFrom: 8, conclusion: nil)
        )
    }

    @Test func whoeverHasNoRecordsPollsWithoutAStore() {
        var machine = FeedMachine(settings: .init())
        expectNoDifference(machine.asked(mustPoll: true, now: Self.start), .lead)
        expectNoDifference(machine.failed(now: Self.start).step, .poll(pace: 1))
        expectNoDifference(machine.polled(now: Self.start), .lead)
    }

    @Test func aLeaderWhosePollWasNotAddedAsksHowFarTheFeedHasCome() {
        var machine = makeLeader()
        _ = machine.polled(now: Self.start)
        expectNoDifference(machine.unpublished(now: Self.start), [.setAlarm(at(.seconds(2)))])
        expectNoDifference(machine.asked(mustPoll: false, now: Self.start), .lead)
        _ = machine.led(Self.led(true, 1, polls: 1), asked: Self.start, now: Self.start, jitter: 0)
        // The entry was its own; reading it changes nothing.
        expectNoDifference(machine.step(), .read(epoch: "e", after: 0))
    }
}
