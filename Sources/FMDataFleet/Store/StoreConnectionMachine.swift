import NIOCore

/// One connection to the store, as a pure state machine: the greeting, which answer belongs to which command, messages,
/// and when the connection is dead.
///
///     greeting (HELLO, or AUTH and CLIENT SETNAME; INFO; ROLE behind Sentinels) → ready → closed
///
/// Answers have no names, so their order is all that there is: after a command without an answer in time the connection
/// is closed. Messages of channels take no place in that order.
struct StoreConnectionMachine {
    struct Settings: Equatable, Sendable {
        var user: String?
        var password: String?
        /// Shown by the store's list of clients; without spaces.
        var name = "fmdata"
        /// 3, or 2 for a store without `HELLO 3`.
        var version = 3
        /// Whether it is only for messages. Such a connection is in version 2 and is sent no other commands.
        var isForMessages = false
        /// Whether the process has to say that it is the master of its replicas.
        var mustBeMaster = false
        var answerTime = TimeAmount.seconds(2)
        var silence = TimeAmount.seconds(10)
    }

    enum Action: Equatable {
        case write(RESPCommand)
        case becomeReady(StoreRun)
        /// The store knows only version 2, so messages need a connection of their own.
        case fallBack
        case succeed(Int, RESPValue)
        case fail(Int, StoreError)
        case deliver(channel: String, [UInt8])
        /// The store does not let this account subscribe.
        case refuseSubscription(StoreError)
        /// The alarm is to ring at this instant; it replaces any earlier one.
        case setAlarm(NIODeadline)
        case close(StoreError)
    }

    private enum Purpose: Equatable {
        case hello, auth, setName, info, ping
        case role(StoreRun)
        case command(Int)
        case subscription(String)
    }

    private struct Pending: Equatable {
        let purpose: Purpose
        let deadline: NIODeadline
    }

    private enum State: Equatable {
        case idle, greeting, ready, closed
    }

    private var settings: Settings
    private var state = State.idle
    private var pending = CircularBuffer<Pending>()
    private var lastAnswer = NIODeadline.uptimeNanoseconds(0)
    private var alarm: NIODeadline?

    init(settings: Settings) {
        self.settings = settings
    }

    var isReady: Bool { state == .ready }

    mutating func connected(now: NIODeadline) -> [Action] {
        guard state == .idle else { return [] }
        state = .greeting
        lastAnswer = now
        var actions: [Action] = []
        if settings.version == 3 {
            var hello = RESPCommand("HELLO", "3")
            if let password = settings.password {
                hello.append("AUTH")
                hello.append(settings.user ?? "default")
                hello.append(password)
            }
            hello.append("SETNAME")
            hello.append(settings.name)
            send(hello, .hello, now, &actions)
        } else {
            greetInVersion2(now, &actions)
        }
        return actions
    }

    mutating func send(_ id: Int, _ command: RESPCommand, now: NIODeadline) -> [Action] {
        guard state == .ready else { return [.fail(id, .unreachable)] }
        var actions: [Action] = []
        send(command, .command(id), now, &actions)
        return actions
    }

    mutating func subscribe(_ channel: String, now: NIODeadline) -> [Action] {
        subscription("SUBSCRIBE", channel, now)
    }

    mutating func unsubscribe(_ channel: String, now: NIODeadline) -> [Action] {
        subscription("UNSUBSCRIBE", channel, now)
    }

    mutating func received(_ value: RESPValue, now: NIODeadline) -> [Action] {
        if state == .closed { return [] }
        lastAnswer = now
        var actions: [Action] = []
        if let notice = notice(value) {
            take(notice, &actions)
        } else {
            answer(value, now, &actions)
        }
        setAlarm(now, &actions)
        return actions
    }

    /// The bytes cannot be read any further.
    mutating func failed(_: RESPParser.Failure) -> [Action] {
        if state == .closed { return [] }
        var actions: [Action] = []
        end(.malformed, &actions)
        return actions
    }

    mutating func wakeUp(now: NIODeadline) -> [Action] {
        alarm = nil
        guard state == .greeting || state == .ready else { return [] }
        var actions: [Action] = []
        if let first = pending.first, first.deadline <= now {
            end(.timeout, &actions)
            return actions
        }
        if state == .ready, pending.isEmpty, lastAnswer + settings.silence <= now {
            send(RESPCommand("PING"), .ping, now, &actions)
        }
        setAlarm(now, &actions)
        return actions
    }

    mutating func closed() -> [Action] {
        if state == .closed { return [] }
        var actions: [Action] = []
        end(.unreachable, &actions)
        return actions
    }

    // MARK: Answers

    private mutating func answer(_ value: RESPValue, _ now: NIODeadline, _ actions: inout [Action]) {
        guard let purpose = pending.popFirst()?.purpose else { return end(.malformed, &actions) }
        switch (purpose, value) {
        case (.command(let id), .error(let error)):
            let failure = StoreError(error)
            actions.append(.fail(id, failure))
            if failure.needsAnotherConnection { end(failure, &actions) }
        case (.command(let id), _):
            actions.append(.succeed(id, value))
        case (.subscription, .error(let error)):
            actions.append(.refuseSubscription(StoreError(error)))
        case (.subscription, _):
            end(.malformed, &actions)
        case (.hello, .error(let error)) where error.word == "NOPROTO" || error.isUnknownCommand:
            settings.version = 2
            actions.append(.fallBack)
            greetInVersion2(now, &actions)
        case (.hello, .error(let error)), (.auth, .error(let error)), (.role, .error(let error)):
            end(StoreError(error), &actions)
        case (.hello, _):
            send(RESPCommand("INFO", "server"), .info, now, &actions)
        case (.info, .error(let error)) where error.word != "NOPERM" && !error.isUnknownCommand:
            end(StoreError(error), &actions)
        case (.info, _):
            let run = value.string.map(StoreRun.init(info:)) ?? StoreRun()
            if settings.mustBeMaster {
                send(RESPCommand("ROLE"), .role(run), now, &actions)
            } else {
                becomeReady(run, &actions)
            }
        case (.role(let run), _):
            guard value.elements?.first?.string == "master" else { return end(.noMaster, &actions) }
            becomeReady(run, &actions)
        // The name is a help for people who look at the store.
        case (.auth, _), (.setName, _), (.ping, _):
            break
        }
    }

    private mutating func becomeReady(_ run: StoreRun, _ actions: inout [Action]) {
        state = .ready
        actions.append(.becomeReady(run))
    }

    private mutating func greetInVersion2(_ now: NIODeadline, _ actions: inout [Action]) {
        if let password = settings.password {
            var auth = RESPCommand("AUTH")
            if let user = settings.user { auth.append(user) }
            auth.append(password)
            send(auth, .auth, now, &actions)
        }
        send(RESPCommand("CLIENT", "SETNAME", settings.name), .setName, now, &actions)
        send(RESPCommand("INFO", "server"), .info, now, &actions)
    }

    // MARK: Messages

    /// The parts of a value that is no answer.
    private func notice(_ value: RESPValue) -> [RESPValue]? {
        switch value {
        case .push(let parts): return parts
        case .array(let parts) where settings.isForMessages:
            let kinds = ["message", "subscribe", "unsubscribe"]
            return parts.first?.string.map(kinds.contains) == true ? parts : nil
        default: return nil
        }
    }

    private mutating func take(_ notice: [RESPValue], _ actions: inout [Action]) {
        guard notice.count >= 3, let kind = notice[0].string, let channel = notice[1].string else { return }
        switch kind {
        case "message":
            if let bytes = notice[2].bytes { actions.append(.deliver(channel: channel, bytes)) }
        case "subscribe", "unsubscribe":
            if pending.first?.purpose == .subscription(channel) { pending.removeFirst() }
        default:
            break
        }
    }

    private mutating func subscription(_ verb: String, _ channel: String, _ now: NIODeadline) -> [Action] {
        guard state == .ready else { return [] }
        var actions: [Action] = []
        send(RESPCommand(verb, channel), .subscription(channel), now, &actions)
        return actions
    }

    // MARK: Ends

    private mutating func send(
        _ command: RESPCommand,
        _ purpose: Purpose,
        _ now: NIODeadline,
        _ actions: inout [Action]
    ) {
        pending.append(Pending(purpose: purpose, deadline: now + settings.answerTime))
        actions.append(.write(command))
        setAlarm(now, &actions)
    }

    private mutating func end(_ error: StoreError, _ actions: inout [Action]) {
        state = .closed
        for entry in pending {
            if case .command(let id) = entry.purpose { actions.append(.fail(id, error)) }
        }
        pending.removeAll()
        actions.append(.close(error))
    }

    /// It is never postponed; an early alarm costs less than setting it with each command.
    private mutating func setAlarm(_ now: NIODeadline, _ actions: inout [Action]) {
        if state == .closed { return }
        let due = pending.first?.deadline ?? max(lastAnswer + settings.silence, now)
        if let alarm, alarm <= due { return }
        alarm = due
        actions.append(.setAlarm(due))
    }
}
