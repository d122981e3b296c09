import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore

/// When the host is asked for a session that some work holds.
@Suite struct HeldSessionMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func at(_ minutes: Int64) -> NIODeadline { start + .minutes(minutes) }

    private var machine = HeldSessionMachine(
        settings: .init(idleTime: .minutes(10), pause: .minutes(1)),
        now: Self.start
    )

    @Test mutating func anIdleSessionIsAskedForAgainAndAgain() {
        expectNoDifference(machine.began(now: Self.at(0)), [.setAlarm(Self.at(10))])
        expectNoDifference(machine.wakeUp(now: Self.at(10)), [.validate])
        expectNoDifference(machine.validated(.answered, now: Self.at(11)), [.setAlarm(Self.at(21))])
        expectNoDifference(machine.wakeUp(now: Self.at(21)), [.validate])
        expectNoDifference(machine.validated(.answered, now: Self.at(21)), [.setAlarm(Self.at(31))])
        expectNoDifference(machine.ended(), [.cancelAlarm])
        expectNoDifference(machine.wakeUp(now: Self.at(31)), [])
    }

    @Test mutating func aCallPostponesTheQuestion() {
        _ = machine.began(now: Self.at(0))
        machine.callBegan()
        machine.callAnswered(now: Self.at(5))
        expectNoDifference(machine.callEnded(.answered, now: Self.at(6)), [], "the alarm may fire too early")
        expectNoDifference(machine.wakeUp(now: Self.at(10)), [.setAlarm(Self.at(16))])
        expectNoDifference(machine.wakeUp(now: Self.at(16)), [.validate])
    }

    @Test mutating func theHostIsNotAskedWhileACallIsUnderWay() {
        _ = machine.began(now: Self.at(0))
        machine.callBegan()
        machine.callBegan()
        expectNoDifference(machine.wakeUp(now: Self.at(10)), [])
        expectNoDifference(machine.callEnded(.answered, now: Self.at(40)), [])
        expectNoDifference(machine.callEnded(.answered, now: Self.at(60)), [.setAlarm(Self.at(70))])
    }

    @Test mutating func aCallThatWasNotAnsweredPostponesNothing() {
        _ = machine.began(now: Self.at(0))
        machine.callBegan()
        expectNoDifference(machine.callEnded(.unanswered, now: Self.at(9)), [])
        expectNoDifference(machine.wakeUp(now: Self.at(10)), [.validate])
        machine.callBegan()
        expectNoDifference(machine.validated(.answered, now: Self.at(10)), [])
        expectNoDifference(machine.callEnded(.unanswered, now: Self.at(30)), [.validate])
    }

    @Test mutating func aQuestionWithoutAnAnswerIsRepeatedAfterAPause() {
        _ = machine.began(now: Self.at(0))
        _ = machine.wakeUp(now: Self.at(10))
        expectNoDifference(machine.validated(.unanswered, now: Self.at(10)), [.setAlarm(Self.at(11))])
        expectNoDifference(machine.wakeUp(now: Self.at(11)), [.validate])
        expectNoDifference(machine.validated(.answered, now: Self.at(11)), [.setAlarm(Self.at(21))])
    }

    @Test mutating func aLostSessionIsReportedOnce() {
        _ = machine.began(now: Self.at(0))
        machine.callBegan()
        machine.callBegan()
        expectNoDifference(machine.callEnded(.lost, now: Self.at(5)), [.lost, .cancelAlarm])
        expectNoDifference(machine.callEnded(.lost, now: Self.at(5)), [])
        expectNoDifference(machine.wakeUp(now: Self.at(10)), [])
        expectNoDifference(machine.ended(), [])
        #expect(machine.isOver)
    }

    @Test mutating func aQuestionFindsTheLoss() {
        _ = machine.began(now: Self.at(0))
        _ = machine.wakeUp(now: Self.at(10))
        expectNoDifference(machine.validated(.lost, now: Self.at(10)), [.lost])
        expectNoDifference(machine.ended(), [])
    }

    @Test mutating func anAnswerAfterTheEndChangesNothing() {
        _ = machine.began(now: Self.at(0))
        _ = machine.wakeUp(now: Self.at(10))
        expectNoDifference(machine.ended(), [])
        expectNoDifference(machine.validated(.lost, now: Self.at(10)), [])
        expectNoDifference(machine.validated(.answered, now: Self.at(10)), [])
    }

    @Test func aSessionThatIsNotKeptAliveIsNotAskedForButItsLossIsReported() {
        var machine = HeldSessionMachine(settings: .init(idleTime: nil, pause: .minutes(1)), now: Self.start)
        expectNoDifference(machine.began(now: Self.at(0)), [])
        machine.callBegan()
        expectNoDifference(machine.callEnded(.answered, now: Self.at(1)), [])
        machine.callBegan()
        expectNoDifference(machine.callEnded(.lost, now: Self.at(20)), [.lost])
    }

    @Test func theTimesFollowTheExpiryOfTheHost() {
        var configuration = DataAPI.SessionConfiguration()
        expectNoDifference(
            HeldSessionMachine.Settings(configuration, isKeptAlive: true),
            HeldSessionMachine.Settings(idleTime: .minutes(10), pause: .minutes(1))
        )
        configuration.idleExpiry = .seconds(30)
        expectNoDifference(
            HeldSessionMachine.Settings(configuration, isKeptAlive: true),
            HeldSessionMachine.Settings(idleTime: .seconds(20), pause: .seconds(2))
        )
        expectNoDifference(HeldSessionMachine.Settings(configuration, isKeptAlive: false).idleTime, nil)
    }
}
