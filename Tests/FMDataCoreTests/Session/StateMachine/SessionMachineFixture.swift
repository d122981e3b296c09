import FMData
import NIOCore

@testable import FMDataCore

/// A state machine with a clock and short methods for its events. Each returns the actions that the machine asks for.
struct SessionMachineFixture {
    typealias Machine = SessionPoolStateMachine
    typealias Action = Machine.Action

    var machine: Machine
    private(set) var now = start
    var jitter = 1.0

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    init(_ change: (inout Machine.Settings) -> Void = { _ in }) {
        var settings = Machine.Settings()
        change(&settings)
        machine = Machine(settings: settings)
    }

    /// The instant this long after the start.
    static func at(_ amount: TimeAmount) -> NIODeadline { start + amount }

    mutating func pass(_ amount: TimeAmount) { now = now + amount }

    /// Lets time pass, then fires the alarm.
    mutating func wake(after amount: TimeAmount) -> [Action] {
        pass(amount)
        return machine.wakeUp(now: now)
    }

    /// - Parameter giveUpTime: the time limit of the call, from now on; `nil` for none.
    mutating func request(
        _ purpose: LeasePurpose = .request,
        within giveUpTime: TimeAmount? = nil
    ) -> (answer: Machine.LeaseAnswer, actions: [Action]) {
        machine.request(purpose, until: giveUpTime.map { now + $0 }, now: now)
    }

    mutating func withdraw(_ lease: Int) -> [Action] {
        machine.withdraw(LeaseID(number: lease), now: now)
    }

    mutating func release(_ lease: Int, of session: Int, _ outcome: SessionOutcome = .used) -> [Action] {
        machine.release(LeaseID(number: lease), of: .of(session), outcome, jitter: jitter, now: now)
    }

    mutating func loggedIn(_ session: Int) -> [Action] {
        machine.loginSucceeded(.of(session), now: now).actions
    }

    mutating func loginFailed(
        _ session: Int,
        _ failure: Machine.LoginFailure,
        mayHaveOpened: Bool = false
    ) -> [Action] {
        machine.loginFailed(.of(session), failure, mayHaveOpened: mayHaveOpened, jitter: jitter, now: now)
    }

    mutating func loaded(_ session: Int, found: Bool) -> [Action] {
        machine.loaded(.of(session), found: found, now: now).actions
    }

    mutating func loggedOut(_ session: Int) -> [Action] {
        machine.logOutFinished(.of(session), now: now)
    }

    mutating func logOutFailed(_ session: Int, isPassing: Bool = true) -> [Action] {
        machine.logOutFailed(.of(session), isPassing: isPassing, jitter: jitter, now: now)
    }

    mutating func logInExternally() -> Int? { machine.logInExternally(now: now).id?.number }
    mutating func visitFailed(_ session: Int) -> [Action] { machine.visitFailed(.of(session), now: now) }
    mutating func abandonVisit(_ session: Int) -> [Action] { machine.abandonVisit(.of(session), now: now) }
    mutating func adopt(from externalLogin: Int) -> (isWanted: Bool, actions: [Action]) {
        let (_, isWanted, actions) = machine.adopt(isOwned: true, from: .of(externalLogin), now: now)
        return (isWanted, actions)
    }

    mutating func slotGranted(
        _ session: Int,
        hasToken: Bool = false,
        isPrivate: Bool = false,
        waiting: Int = 0
    ) -> [Action] {
        machine.slotGranted(.of(session), hasToken: hasToken, isPrivate: isPrivate, waiting: waiting, now: now).actions
    }

    mutating func recalled(_ session: Int) -> [Action] { machine.recalled(.of(session), now: now) }
    mutating func slotLost(_ session: Int) -> [Action] { machine.slotLost(.of(session), now: now) }
    mutating func slotForgotten(_ session: Int) -> [Action] { machine.slotForgotten(.of(session), now: now) }
    mutating func putDone(_ session: Int, token: Int) -> [Action] {
        machine.putDone(.of(session), .of(token), now: now)
    }
    mutating func putRefused(_ session: Int, token: Int) -> [Action] {
        machine.putRefused(.of(session), .of(token), now: now)
    }
    mutating func emptied(_ session: Int, isHeld: Bool = true) -> [Action] {
        machine.emptied(.of(session), isHeld: isHeld, now: now)
    }

    mutating func storeRefused(_ token: Int) -> [Action] { machine.storeRefused(.of(token), now: now) }
    mutating func logOut() -> [Action] { machine.logOut(now: now).actions }
    mutating func shutdown() -> [Action] { machine.shutdown(now: now).actions }
    mutating func adopt(isOwned: Bool) -> [Action] { machine.adopt(isOwned: isOwned, now: now).actions }
    mutating func confine(to token: Int) -> [Action] { machine.confine(to: .of(token), now: now) }
    mutating func replaceCredentials(hasStore: Bool = false) -> [Action] {
        machine.credentialsReplaced(hasStore: hasStore, now: now)
    }

    /// Opens this many sessions, numbered from 1. All of them are idle and have been used once.
    mutating func open(_ count: Int) {
        var leases: [(Int, Int)] = []
        for session in 1...count {
            guard case .waiting(let id) = request().answer else { fatalError("The pool has idle sessions already") }
            _ = loggedIn(session)
            leases.append((id.number, session))
        }
        for (lease, session) in leases { _ = release(lease, of: session) }
    }
}

extension SessionID {
    static func of(_ number: Int) -> SessionID { SessionID(number: number) }
}

extension LeaseID {
    static func of(_ number: Int) -> LeaseID { LeaseID(number: number) }
}

extension TokenEpoch {
    static func of(_ tick: Int) -> TokenEpoch { TokenEpoch(tick: tick) }
}

extension SessionPoolStateMachine.Grant {
    static func of(_ lease: Int, session: Int, token: Int, hasWorked: Bool = false) -> Self {
        Self(lease: .of(lease), session: .of(session), token: .of(token), hasWorked: hasWorked)
    }
}

extension SessionPoolStateMachine.Action {
    static func grant(_ lease: Int, session: Int, token: Int, hasWorked: Bool = false) -> Self {
        .grant(.of(lease, session: session, token: token, hasWorked: hasWorked))
    }

    static func refuse(_ lease: Int, _ refusal: SessionPoolStateMachine.LeaseRefusal) -> Self {
        .refuse(.of(lease), refusal)
    }

    static func logOut(_ session: Int, token: Int) -> Self { .logOut(.of(session), .of(token)) }
    static func leave(_ session: Int, token: Int) -> Self { .leave(.of(session), .of(token)) }
    static func finish(_ ending: Int, left: Int = 0) -> Self { .finish(.init(number: ending), left: left) }
    static func take(_ session: Int) -> Self { .take(.of(session)) }
    static func empty(_ session: Int, token: Int) -> Self { .empty(.of(session), .of(token)) }
    static func put(_ session: Int, token: Int, life: TimeAmount = .seconds(14 * 60 + 30)) -> Self {
        .put(.of(session), .of(token), life: life)
    }

    static func give(_ session: Int, without token: Int? = nil, life: TimeAmount? = nil) -> Self {
        .give(.of(session), without: token.map { .of($0) }, life: life)
    }

    static func forget(_ token: Int) -> Self { .forget(.of(token)) }
    static func alarm(_ amount: TimeAmount) -> Self { .setAlarm(SessionMachineFixture.at(amount)) }
}
