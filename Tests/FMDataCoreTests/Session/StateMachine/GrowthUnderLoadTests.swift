import CustomDump
import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataCore

/// Whether a pool grows under constant load, and only then: the state machine with simulated callers, host and clock.
@Suite struct GrowthUnderLoadTests {
    private static let callTime = TimeAmount.milliseconds(22)

    /// Each request waits for three others, and for one as soon as there are two sessions. Both waits are shorter than
    /// most of these logins, so the pool must not need a single request that waits as long as a login.
    @Test(.thorough, arguments: [10, 30, 50, 66, 70, 100, 500, 5_000], [0, 2])
    func fourSteadyCallersGetFourSessions(loginTime: Int64, rest: Int64) {
        var load = PoolUnderLoad(maximumSessions: 4, callTime: Self.callTime, loginTime: .milliseconds(loginTime))
        load.comeBack(4, after: .milliseconds(rest))
        load.run(for: .seconds(25))
        expectNoDifference(load.pool.machine.status.sessions, 4)
        expectNoDifference(load.logins, 4)
        // No request waits any more.
        let before = load.times.count
        load.run(for: .seconds(1))
        expectNoDifference(Set(load.times[before...]), [Self.callTime])
    }

    @Test(arguments: [1, 2, 3, 5, 8])
    func thePoolHasAsManySessionsAsThereAreSteadyCallers(callers: Int) {
        var load = PoolUnderLoad(maximumSessions: 8, callTime: Self.callTime, loginTime: .milliseconds(70))
        load.comeBack(callers, after: .zero)
        load.run(for: .seconds(50))
        expectNoDifference(load.pool.machine.status.sessions, callers)
        expectNoDifference(load.logins, callers)
    }

    /// The last of five requests waits 88 ms, less than a login takes. One burst per second must not add up to a load.
    @Test func aBurstThatIsOverSoonerThanALoginCausesNone() {
        var load = PoolUnderLoad(maximumSessions: 4, callTime: Self.callTime, loginTime: .milliseconds(100))
        load.come(1)
        for _ in 0..<120 {
            load.run(for: .seconds(1))
            load.come(5)
        }
        load.run(for: .seconds(1))
        expectNoDifference(load.times.count, 601)
        expectNoDifference(load.logins, 1)
    }

    @Test func aLineThatIsThereForAsLongAsALoginCausesOne() {
        var load = PoolUnderLoad(maximumSessions: 4, callTime: Self.callTime, loginTime: .milliseconds(100))
        load.come(1)
        load.run(for: .seconds(1))
        load.come(6)
        load.run(for: .milliseconds(99))
        expectNoDifference(load.pool.machine.status.loggingIn, 0)
        load.run(for: .milliseconds(1))
        expectNoDifference(load.pool.machine.status.loggingIn, 1)
        // One session is open, so only one login runs at a time.
        load.come(20)
        load.run(for: .milliseconds(99))
        expectNoDifference(load.pool.machine.status.loggingIn, 1)
    }

    /// The attempts come 1, 2, 4, 8 … seconds after the one before.
    @Test func aFullHostIsAskedNoMoreOftenThanItsPausesSay() {
        var load = PoolUnderLoad(maximumSessions: 4, callTime: Self.callTime, loginTime: .milliseconds(100))
        load.sessionsOfHost = 2
        load.comeBack(4, after: .zero)
        load.run(for: .seconds(60))
        expectNoDifference(load.pool.machine.status.sessions, 2)
        expectNoDifference(load.pool.machine.status.failedLogins, 6)
        expectNoDifference(load.pool.machine.status.limit, 2)
    }

    @Test func aPoolOfOneStaysOne() {
        var load = PoolUnderLoad(maximumSessions: 1, callTime: Self.callTime, loginTime: .milliseconds(100))
        load.comeBack(4, after: .zero)
        load.run(for: .seconds(10))
        expectNoDifference(load.logins, 1)
    }

    // MARK: The rule

    @Test func waitingAddsUpAndRestTakesAQuarterOff() {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let limit = TimeAmount.milliseconds(100)
        var pressure = WaitingPressure()
        pressure.pass(start, atMost: limit, isGrowing: true)
        expectNoDifference(pressure.reaches(limit), start + limit)
        pressure.pass(start + .milliseconds(60), atMost: limit, isGrowing: false)
        pressure.pass(start + .milliseconds(100), atMost: limit, isGrowing: true)
        expectNoDifference(pressure.reaches(limit), start + .milliseconds(150))
        // The sum stays between zero and the limit.
        pressure.pass(start + .seconds(10), atMost: limit, isGrowing: false)
        expectNoDifference(pressure.reaches(limit), start + .seconds(10))
        pressure.pass(start + .seconds(11), atMost: limit, isGrowing: true)
        expectNoDifference(pressure.reaches(limit), start + .seconds(11) + limit)
        // A clock that was set back neither adds nor subtracts.
        pressure.pass(start + .seconds(5), atMost: limit, isGrowing: true)
        expectNoDifference(pressure.reaches(limit), start + .seconds(5) + limit)
        pressure.pass(start + .milliseconds(5_050), atMost: limit, isGrowing: true)
        pressure.relieve(start + .milliseconds(5_050))
        expectNoDifference(pressure.reaches(limit), start + .milliseconds(5_150))
    }
}

/// The state machine with a simulated host and callers. Calls and logins take the given times, and all events happen in
/// the order of their time.
private struct PoolUnderLoad {
    private enum Event {
        case call(rest: TimeAmount?)
        case answer(Int, session: Int)
        case login(Int)
        case alarm
    }

    private(set) var pool: SessionMachineFixture
    /// How long each finished call has taken, including its wait.
    private(set) var times: [TimeAmount] = []
    private(set) var logins = 0
    /// The number of sessions that the host accepts.
    var sessionsOfHost = Int.max

    private let callTime: TimeAmount
    private let loginTime: TimeAmount
    private var events: [(at: NIODeadline, event: Event)] = []
    private var callers: [Int: (since: NIODeadline, rest: TimeAmount?)] = [:]

    init(maximumSessions: Int, callTime: TimeAmount, loginTime: TimeAmount) {
        pool = SessionMachineFixture { $0.maximumSessions = maximumSessions }
        self.callTime = callTime
        self.loginTime = loginTime
    }

    /// Makes this many calls now.
    mutating func come(_ count: Int) {
        for _ in 0..<count { add(.call(rest: nil), at: pool.now) }
    }

    /// Makes this many calls now, each of which is repeated this long after its answer.
    mutating func comeBack(_ count: Int, after rest: TimeAmount) {
        for _ in 0..<count { add(.call(rest: rest), at: pool.now) }
    }

    mutating func run(for time: TimeAmount) {
        let end = pool.now + time
        while let next = events.first, next.at <= end {
            events.removeFirst()
            pool.pass(next.at - pool.now)
            happen(next.event)
        }
        pool.pass(end - pool.now)
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .call(let rest):
            let since = pool.now
            let (answer, actions) = pool.request()
            switch answer {
            case .granted(let grant):
                callers[grant.lease.number] = (since, rest)
                begin(grant)
            case .waiting(let lease): callers[lease.number] = (since, rest)
            case .refused(let refusal): Issue.record("\(refusal)")
            }
            obey(actions)
        case .answer(let lease, let session):
            if let caller = callers.removeValue(forKey: lease) {
                times.append(pool.now - caller.since)
                // With a rest of zero the next call comes after the session was given back.
                if let rest = caller.rest { add(.call(rest: rest), at: pool.now + rest) }
            }
            obey(pool.release(lease, of: session))
        case .login(let session):
            logins += 1
            if pool.machine.status.sessions < sessionsOfHost {
                obey(pool.loggedIn(session))
            } else {
                obey(pool.loginFailed(session, .hostFull))
            }
        case .alarm:
            // The alarm may have been set again for another time.
            guard pool.machine.alarm == pool.now else { return }
            obey(pool.wake(after: .zero))
        }
    }

    private mutating func obey(_ actions: [SessionMachineFixture.Action]) {
        for action in actions {
            switch action {
            case .grant(let grant): begin(grant)
            case .logIn(let session): add(.login(session.number), at: pool.now + loginTime)
            case .setAlarm(let instant): add(.alarm, at: instant)
            case .refuse(_, let refusal): Issue.record("\(refusal)")
            case .logOut(let session, _): obey(pool.loggedOut(session.number))
            default: break
            }
        }
    }

    private mutating func begin(_ grant: SessionPoolStateMachine.Grant) {
        add(.answer(grant.lease.number, session: grant.session.number), at: pool.now + callTime)
    }

    /// Inserts the event after others of the same time.
    private mutating func add(_ event: Event, at instant: NIODeadline) {
        let place = events.firstIndex { $0.at > instant } ?? events.endIndex
        events.insert((instant, event), at: place)
    }
}
