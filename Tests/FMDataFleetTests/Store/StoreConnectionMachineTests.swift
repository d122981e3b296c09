import CustomDump
import NIOCore
import Testing

@testable import FMDataFleet

/// A connection to the store: the greeting, and which answer belongs to which command.
@Suite struct StoreConnectionMachineTests {
    private typealias Machine = StoreConnectionMachine

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let run = StoreRun(id: "r1", uptime: 7)
    private static let info = RESPValue.text(Array("# Server\r\nrun_id:r1\r\nuptime_in_seconds:7\r\n".utf8))

    private func at(_ amount: TimeAmount) -> NIODeadline { Self.start + amount }

    private func makeReady(_ change: (inout Machine.Settings) -> Void = { _ in }) -> Machine {
        var settings = Machine.Settings()
        change(&settings)
        var machine = Machine(settings: settings)
        _ = machine.connected(now: Self.start)
        if settings.version == 3 { _ = machine.received(.map([]), now: Self.start) }
        if settings.version == 2 { _ = machine.received(.simple("OK"), now: Self.start) }
        expectNoDifference(machine.received(Self.info, now: Self.start).first, .becomeReady(Self.run))
        return machine
    }

    // MARK: The greeting

    @Test func itLogsInWithItsFirstCommand() {
        var settings = Machine.Settings()
        settings.user = "ada"
        settings.password = "secret"
        var machine = Machine(settings: settings)
        expectNoDifference(
            machine.connected(now: Self.start).first,
            .write(RESPCommand("HELLO", "3", "AUTH", "ada", "secret", "SETNAME", "fmdata"))
        )
        expectNoDifference(machine.received(.map([]), now: Self.start).first, .write(RESPCommand("INFO", "server")))
        expectNoDifference(machine.isReady, false)
        expectNoDifference(machine.received(Self.info, now: Self.start), [.becomeReady(Self.run)])
        expectNoDifference(machine.isReady, true)
    }

    @Test(arguments: ["NOPROTO unsupported protocol version", "ERR unknown command `HELLO`"])
    func aStoreWithoutVersion3IsGreetedInVersion2(error: String) {
        var settings = Machine.Settings()
        settings.password = "secret"
        var machine = Machine(settings: settings)
        _ = machine.connected(now: Self.start)
        expectNoDifference(
            machine.received(.error(RESPError(error.utf8)), now: Self.start),
            [
                .fallBack,
                .write(RESPCommand("AUTH", "secret")),
                .write(RESPCommand("CLIENT", "SETNAME", "fmdata")),
                .write(RESPCommand("INFO", "server")),
            ]
        )
        _ = machine.received(.simple("OK"), now: Self.start)
        // The name is a help for people only.
        _ = machine.received(.error(RESPError("ERR no".utf8)), now: Self.start)
        expectNoDifference(machine.received(Self.info, now: Self.start), [.becomeReady(Self.run)])
    }

    @Test(
        arguments: [
            (RESPValue.array([.text(Array("master".utf8)), .integer(0), .array([])]), [.becomeReady(run)]),
            (.array([.text(Array("slave".utf8)), .text(Array("10.0.0.7".utf8))]), [.close(.noMaster)]),
            (.null, [.close(.noMaster)]),
            (.error(RESPError("NOPERM no".utf8)), [.close(StoreError(.refused, word: "NOPERM"))]),
        ] as [(RESPValue, [StoreConnectionMachine.Action])]
    )
    func behindSentinelsAProcessHasToBeTheMaster(role: RESPValue, actions: [StoreConnectionMachine.Action]) {
        var settings = Machine.Settings()
        settings.mustBeMaster = true
        var machine = Machine(settings: settings)
        _ = machine.connected(now: Self.start)
        _ = machine.received(.map([]), now: Self.start)
        expectNoDifference(machine.received(Self.info, now: Self.start).first, .write(RESPCommand("ROLE")))
        expectNoDifference(machine.isReady, false)
        expectNoDifference(machine.received(role, now: Self.start), actions)
    }

    @Test func aRefusedLoginIsTheEnd() {
        var machine = Machine(settings: Machine.Settings())
        _ = machine.connected(now: Self.start)
        expectNoDifference(
            machine.received(.error(RESPError("WRONGPASS invalid".utf8)), now: Self.start),
            [.close(StoreError(.refused, word: "WRONGPASS"))]
        )
    }

    @Test func aStoreThatHidesItsRunHasNone() {
        var machine = Machine(settings: Machine.Settings())
        _ = machine.connected(now: Self.start)
        _ = machine.received(.map([]), now: Self.start)
        expectNoDifference(
            machine.received(.error(RESPError("NOPERM this user has no permissions".utf8)), now: Self.start),
            [.becomeReady(StoreRun(id: "-"))]
        )
    }

    @Test func aStoreThatIsLoadingIsAskedAgainOnAnotherConnection() {
        var machine = Machine(settings: Machine.Settings())
        _ = machine.connected(now: Self.start)
        expectNoDifference(
            machine.received(.error(RESPError("LOADING Redis is loading".utf8)), now: Self.start),
            [.close(StoreError(.refused, word: "LOADING"))]
        )
    }

    // MARK: Answers

    @Test func answersBelongToCommandsInOrder() {
        var machine = makeReady()
        _ = machine.send(1, RESPCommand("GET", "a"), now: Self.start)
        _ = machine.send(2, RESPCommand("GET", "b"), now: Self.start)
        expectNoDifference(machine.received(.null, now: Self.start), [.succeed(1, .null)])
        expectNoDifference(
            machine.received(.error(RESPError("OOM no".utf8)), now: Self.start),
            [.fail(2, StoreError(.refused, word: "OOM"))]
        )
    }

    @Test func aPushIsNoAnswer() {
        var machine = makeReady()
        _ = machine.send(1, RESPCommand("EVALSHA"), now: Self.start)
        let message = RESPValue.push(["message", "c", "g"].map { .text(Array($0.utf8)) })
        expectNoDifference(machine.received(message, now: Self.start), [.deliver(channel: "c", Array("g".utf8))])
        expectNoDifference(machine.received(.integer(1), now: Self.start), [.succeed(1, .integer(1))])
    }

    @Test func subscribingTakesNoAnswer() {
        var machine = makeReady()
        expectNoDifference(machine.subscribe("c", now: Self.start), [.write(RESPCommand("SUBSCRIBE", "c"))])
        _ = machine.send(1, RESPCommand("GET", "a"), now: Self.start)
        let confirmation = RESPValue.push([.text(Array("subscribe".utf8)), .text([0x63]), .integer(1)])
        expectNoDifference(machine.received(confirmation, now: Self.start), [])
        expectNoDifference(machine.received(.null, now: Self.start), [.succeed(1, .null)])
    }

    @Test func aRefusedSubscriptionIsNoAnswerEither() {
        var machine = makeReady()
        _ = machine.subscribe("c", now: Self.start)
        _ = machine.send(1, RESPCommand("GET", "a"), now: Self.start)
        expectNoDifference(
            machine.received(.error(RESPError("NOPERM no".utf8)), now: Self.start),
            [.refuseSubscription(StoreError(.refused, word: "NOPERM"))]
        )
        expectNoDifference(machine.received(.null, now: Self.start), [.succeed(1, .null)])
    }

    @Test func inVersion2MessagesAreArrays() {
        var machine = makeReady {
            $0.version = 2
            $0.isForMessages = true
        }
        _ = machine.subscribe("c", now: Self.start)
        let confirmation = RESPValue.array([.text(Array("subscribe".utf8)), .text([0x63]), .integer(1)])
        expectNoDifference(machine.received(confirmation, now: Self.start), [])
        let message = RESPValue.array(["message", "c", "g"].map { .text(Array($0.utf8)) })
        expectNoDifference(machine.received(message, now: Self.start), [.deliver(channel: "c", Array("g".utf8))])
    }

    @Test func anAnswerThatNobodyAskedForIsTheEnd() {
        var machine = makeReady()
        expectNoDifference(machine.received(.integer(1), now: Self.start), [.close(.malformed)])
    }

    @Test func malformedBytesFailWhatWaits() {
        var machine = makeReady()
        _ = machine.send(1, RESPCommand("GET", "a"), now: Self.start)
        expectNoDifference(machine.failed(.malformed), [.fail(1, .malformed), .close(.malformed)])
        expectNoDifference(machine.send(2, RESPCommand("GET", "a"), now: Self.start), [.fail(2, .unreachable)])
    }

    @Test(arguments: ["READONLY You can't write", "MOVED 3999 127.0.0.1:6381"])
    func anotherServerIsNeeded(error: String) {
        var machine = makeReady()
        _ = machine.send(1, RESPCommand("EVALSHA"), now: Self.start)
        let failure = StoreError(RESPError(error.utf8))
        expectNoDifference(
            machine.received(.error(RESPError(error.utf8)), now: Self.start),
            [.fail(1, failure), .close(failure)]
        )
    }

    // MARK: Time

    @Test func anAnswerThatIsLateClosesTheConnectionSinceAnswersHaveNoNames() {
        var machine = makeReady()
        _ = machine.send(1, RESPCommand("GET", "a"), now: at(.seconds(1)))
        // The greeting had set the alarm.
        expectNoDifference(machine.wakeUp(now: at(.seconds(2))), [.setAlarm(at(.seconds(3)))])
        expectNoDifference(machine.wakeUp(now: at(.seconds(3))), [.fail(1, .timeout), .close(.timeout)])
        expectNoDifference(machine.received(.null, now: at(.seconds(4))), [])
    }

    @Test func aSilentConnectionIsAsked() {
        var machine = makeReady()
        _ = machine.wakeUp(now: at(.seconds(2)))
        expectNoDifference(
            machine.wakeUp(now: at(.seconds(10))),
            [.write(RESPCommand("PING")), .setAlarm(at(.seconds(12)))]
        )
        expectNoDifference(machine.received(.simple("PONG"), now: at(.seconds(11))), [])
        expectNoDifference(machine.wakeUp(now: at(.seconds(12))), [.setAlarm(at(.seconds(21)))])
    }

    @Test func theBackOffDoublesUpToFiveSeconds() {
        var backOff = StoreBackOff()
        let pauses = (0..<9).map { _ in backOff.next(jitter: 1).nanoseconds / 1_000_000 }
        expectNoDifference(pauses, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000])
        backOff.reset()
        expectNoDifference(backOff.next(jitter: 0), .milliseconds(25))
    }
}
