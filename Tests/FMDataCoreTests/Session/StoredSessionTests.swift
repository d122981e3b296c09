import CustomDump
import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMDataCore

/// Sessions that are used beyond the end of their program: what a pool does with a token store.
@Suite(.timeLimit(.minutes(15))) struct StoredSessionTests {
    @Test func aProgramThatRunsEveryMinuteUsesOneSession() async {
        let store = StubStore()
        let server = StubServer()
        for _ in 0..<3 {
            let run = PoolRun(store: store, server: server)
            await run.expectRequest(["T1", "finished"])
            await run.end()
        }
        expectNoDifference(server.logInCount, 1)
        expectNoDifference(server.loggedOut, [])
        expectNoDifference(store.token, "T1")
    }

    @Test func aDeadEntryIsReplaced() async {
        let store = StubStore(token: "dead")
        let server = StubServer()
        let run = PoolRun(store: store, server: server)
        await run.expectRequest(["T1", "finished"])
        await run.end()
        expectNoDifference(store.token, "T1")
        expectNoDifference(store.calls, ["load", "remove dead", "save T1", "load"])
    }

    @Test func logOutEmptiesTheStore() async {
        let store = StubStore()
        let server = StubServer()
        let run = PoolRun(store: store, server: server)
        await run.expectRequest(["T1", "finished"])
        await run.logOut()
        expectNoDifference(server.loggedOut, ["T1"])
        await run.end()
        expectNoDifference(store.token, nil)
    }

    @Test func logOutClosesWhatAnEarlierRunLeft() async {
        let server = StubServer()
        let store = StubStore(token: server.open().value)
        let run = PoolRun(store: store, server: server)
        await run.logOut()
        expectNoDifference(server.live, [])
        await run.end()
        expectNoDifference(store.token, nil)
    }

    @Test func aSessionThatTheStoreHasReplacedIsNotLeftBehind() async {
        let store = StubStore()
        let server = StubServer()
        let run = PoolRun(store: store, server: server)
        await run.expectRequest(["T1", "finished"])
        store.replace(with: server.open().value)
        await run.end()
        expectNoDifference(server.loggedOut, ["T1"])
        expectNoDifference(store.token, "T2")
    }

    @Test func otherCredentialsFindTheirOwnEntry() async {
        let entries = NIOLockedValueBox(["eve": "E1"])
        let (loads, loaded) = AsyncStream.makeStream(of: String.self)
        let store = DataAPI.TokenStore(
            load: { key in
                loaded.yield(key.identity)
                return entries.withLockedValue { $0[key.identity] }
            },
            save: { token, key in
                entries.withLockedValue { $0[key.identity] = token }
                return true
            },
            remove: { _, _ in }
        )
        let fixture = PoolFixture(
            answersAtOnce: false,
            storeKey: .init(host: "h", database: "d", identity: "ada")
        ) { $0.tokenStore = store }
        let (logIns, logInSent) = AsyncStream.makeStream(of: Void.self)
        fixture.server.onLogIn { logInSent.yield() }
        let (values, heard) = AsyncStream.makeStream(of: String.self)
        fixture.pool.authorized { lease in
            Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        .subscribe(
            Recorder<String>(onValue: { _, value in
                heard.yield(value)
                return .none
            })
        )
        for await _ in logIns { break }
        // No session is open and a request waits, so the next load is for the new credentials.
        fixture.server.logIns[0].fail(.hostFull)
        fixture.replaceCredentials(storeKey: .init(host: "h", database: "d", identity: "eve"))
        for await value in values {
            expectNoDifference(value, "E1")
            break
        }
        loaded.finish()
        let asked = await loads.reduce(into: []) { $0.append($1) }
        expectNoDifference(asked, ["ada", "eve"])
    }

    @Test func aStoreThatFailsCountsAsEmpty() async {
        let store = StubStore(fails: true)
        let server = StubServer()
        let run = PoolRun(store: store, server: server)
        await run.expectRequest(["T1", "finished"])
        await run.end()
        expectNoDifference(store.calls, ["load", "save T1"])
        expectNoDifference(store.failures, 2)
        expectNoDifference(server.loggedOut, ["T1"])
    }

    @Test func aStoreThatFailsWhenTheEndHasBegunLeavesNoSession() async {
        let (saves, save) = AsyncStream.makeStream(of: Void.self)
        let store = StubStore(fails: true, saves: saves)
        let server = StubServer()
        let run = PoolRun(store: store, server: server)
        await run.expectRequest(["T1", "finished"])
        await run.end { save.finish() }
        expectNoDifference(server.loggedOut, ["T1"])
        expectNoDifference(store.calls, ["load", "save T1"], "a token that it has refused is not looked up")
    }

    @Test(arguments: ["", "two words", "line\r\nbreak", "naïve"]) func whatCannotBeATokenIsNotSent(text: String) async {
        let server = StubServer()
        let run = PoolRun(store: StubStore(token: text), server: server)
        await run.expectRequest(["T1", "finished"])
        await run.end()
    }
}

/// One run of a program with a pool and a store.
private final class PoolRun: Sendable {
    private let pool: SessionPool
    private let server: StubServer

    init(store: StubStore, server: StubServer) {
        self.server = server
        var configuration = DataAPI.SessionConfiguration()
        configuration.tokenStore = store.store
        pool = SessionPool(
            configuration: configuration,
            storeKey: .init(host: "h", database: "d", identity: "i"),
            authenticator: server.authenticator,
            time: TestClock().sessionTime,
            jitter: { 1 },
            observer: SessionObserver(storeFailed: { _ in store.noteFailure() })
        )
    }

    /// Makes a request, waits for its end, and compares its events.
    func expectRequest(_ history: [String], line: UInt = #line) async {
        let heard: [String] = await withCheckedContinuation { continuation in
            let server = server
            pool.authorized { lease -> AnyPublisher<String, FMRest.APIError> in
                server.knows(lease.token)
                    ? Just(lease.token.value).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                    : Fail(error: .refused).eraseToAnyPublisher()
            }
            .subscribe(Recorder<String>(onCompletion: { continuation.resume(returning: $0.history) }))
        }
        expectNoDifference(heard, history, line: line)
    }

    func logOut() async {
        await withCheckedContinuation { continuation in
            pool.logOut().subscribe(Recorder<Void>(onCompletion: { _ in continuation.resume() }))
        }
    }

    func end(meanwhile: () -> Void = {}) async {
        await withCheckedContinuation { continuation in
            pool.shutdown().setFailureType(to: FMRest.APIError.self)
                .subscribe(Recorder<Int>(onCompletion: { _ in continuation.resume() }))
            meanwhile()
        }
    }
}

/// A store with one entry that records its calls.
private final class StubStore: Sendable {
    private struct Failure: Error {}
    private struct State {
        var token: String?
        var calls: [String] = []
        var failures = 0
    }

    private let state: NIOLockedValueBox<State>
    private let fails: Bool
    private let saves: AsyncStream<Void>?

    /// - Parameter saves: every save waits until this stream ends.
    init(token: String? = nil, fails: Bool = false, saves: AsyncStream<Void>? = nil) {
        state = NIOLockedValueBox(State(token: token))
        self.fails = fails
        self.saves = saves
    }

    var token: String? { state.withLockedValue(\.token) }
    var calls: [String] { state.withLockedValue(\.calls) }
    var failures: Int { state.withLockedValue(\.failures) }

    func replace(with token: String) { state.withLockedValue { $0.token = token } }
    func noteFailure() { state.withLockedValue { $0.failures += 1 } }

    var store: DataAPI.TokenStore {
        DataAPI.TokenStore(
            load: { _ in
                try self.state.withLockedValue { state in
                    state.calls.append("load")
                    if self.fails { throw Failure() }
                    return state.token
                }
            },
            save: { token, _ in
                if let saves = self.saves { for await _ in saves {} }
                return try self.state.withLockedValue { state in
                    state.calls.append("save \(token)")
                    if self.fails { throw Failure() }
                    if state.token == nil { state.token = token }
                    return state.token == token
                }
            },
            remove: { token, _ in
                try self.state.withLockedValue { state in
                    state.calls.append("remove \(token)")
                    if self.fails { throw Failure() }
                    if state.token == token { state.token = nil }
                }
            }
        )
    }
}
