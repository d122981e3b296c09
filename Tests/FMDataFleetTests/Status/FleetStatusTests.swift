import CustomDump
import FMData
import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataFleet

/// What is in the store, as people and programs see it.
@Suite(.timeLimit(.minutes(5))) struct FleetStatusTests {
    private static let key = DataAPI.TokenStore.Key(host: "h", database: "d", identity: "ada")
    private static let digest = String(key.digest.prefix(32))

    private func pool(_ fields: [String: String], line: [String] = [], refusal: String? = nil) -> FleetStatus.Pool {
        FleetStatus.Pool(name: "p", fields: fields, line: line, refusal: refusal, now: 1_000_000)
    }

    private func slot(_ number: Int) -> FleetStatus.Slot {
        FleetStatus.Slot(
            number: number,
            holder: nil,
            held: .zero,
            lease: .zero,
            isOpening: false,
            isRecalled: false,
            sessionLife: nil
        )
    }

    // MARK: What a hash says

    @Test func slotsAreHeldUntilTheirLeaseEnds() {
        let fields = [
            "k": "3", "o1": "ada", "l1": "x", "u1": "1009000", "g1": "940000", "t1": "sealed", "x1": "1800000",
            "c1": "1000500", "o2": "bob", "u2": "999000", "t2": "sealed", "x2": "1200000", "o3": "eve", "u3": "1001000",
            "g3": "998000", "b3": "1",
        ]
        var (first, second, third) = (slot(1), slot(2), slot(3))
        (first.holder, first.held, first.lease) = ("ada", .seconds(60), .seconds(9))
        (first.isRecalled, first.sessionLife) = (true, .seconds(800))
        second.sessionLife = .seconds(200)
        (third.holder, third.held, third.lease, third.isOpening) = ("eve", .seconds(2), .seconds(1), true)
        expectNoDifference(pool(fields).slots, [first, second, third])
        expectNoDifference(pool(fields).members, ["ada", "eve"])
    }

    @Test func whoeverAsksNoMoreDoesNotWait() {
        let fields = ["a:ada": "1000001", "a:bob": "1000000"]
        expectNoDifference(pool(fields, line: ["ada", "bob", "eve"]).waiting, ["ada"])
    }

    @Test func whatKeepsMembersFromASlotIsSaid() {
        let held = pool(["shut": "1004000", "cap": "2", "capu": "1050000"], refusal: "212")
        expectNoDifference(held.grace, .seconds(4))
        expectNoDifference(held.limit, 2)
        expectNoDifference(held.refusal, .init(code: 212))
        let free = pool(["shut": "1000000", "cap": "2", "capu": "1000000"])
        expectNoDifference(free.grace, .zero)
        expectNoDifference(free.limit, nil)
        expectNoDifference(free.refusal, nil)
        expectNoDifference(pool([:], refusal: "0").refusal, .init(code: nil))
    }

    @Test func loginsAreCountedByTheHour() {
        let counted = pool(["logins": "6", "strays": "1", "since": "-6200000"])
        expectNoDifference(counted.age, .seconds(7200))
        expectNoDifference(counted.loginsPerHour, 3)
        expectNoDifference(counted.strays, 1)
        // A short time says little of an hour.
        expectNoDifference(pool(["logins": "6", "since": "999000"]).loginsPerHour, 6)
    }

    @Test func whatMakesNoSenseIsLeftOut() {
        let fields = [
            "k": "9223372036854775807", "u1": "x", "u-5": "1", "u99999999999999999999": "1", "o0": "x",
            "shut": "-9223372036854775808", "since": "9223372036854775807", "logins": "-4", "": "", "u": "",
        ]
        let pool = pool(fields)
        expectNoDifference(pool.slots.map(\.number), Array(1...10_000))
        expectNoDifference(pool.grace, .zero)
        expectNoDifference(pool.age, .zero)
        expectNoDifference(pool.logins, 0)
    }

    // MARK: A real store

    @Test(.needsStore)
    func theStatusIsReadWithoutAKeyAndHasNoToken() async throws {
        try await StoreServer.run { store in
            expectNoDifference(awaited: try await FleetStatus.read(from: store.address, times: .ofTests()).pools, [])
            let client = StoreClient.make(at: store.address)
            @Sendable func calls(_ me: String) -> SlotCalls {
                SlotCalls(client: client, names: .init(digest: Self.digest), settings: .ofTests(slots: 2), me: me)
            }
            _ = try await client.send { _ in RESPCommand("SET", "fm:{x}:pool", "no pool") }
            _ = try await calls("ada").take("a")
            _ = try await calls("ada").put(Array("canary".utf8), slot: 1, lease: "a", life: 3_600_000)
            _ = try await calls("bob").take("b")
            guard case .wait = try await calls("eve").take("c") else {
                Issue.record("there are two slots")
                return
            }
            try await calls("eve").noteRefusal(212)
            // It need not ask again while the test takes its time.
            _ = try await client.send { _ in RESPCommand("HSET", calls("eve").names.pool, "a:eve", "9999999999999") }
            let status = try await FleetStatus.read(from: store.address, times: .ofTests())
            let pool = try #require(status.pools.first)
            expectNoDifference(status.pools.map(\.name), [Self.digest])
            expectNoDifference(pool.slots.map(\.holder), ["ada", "bob"])
            expectNoDifference(pool.slots.map(\.isOpening), [false, true])
            expectNoDifference(pool.slots.map { $0.sessionLife == nil }, [false, true])
            expectNoDifference(pool.waiting, ["eve"])
            expectNoDifference(pool.members, ["ada", "bob", "eve"])
            expectNoDifference(pool.logins, 1)
            expectNoDifference(pool.refusal?.code, 212)
            var text = ""
            dump(status, to: &text)
            #expect(!text.contains("canary"))
            await client.shutdown()
        }
    }

    @Test func aStoreThatIsNotThereIsAnError() async {
        await #expect(throws: StoreError.self) {
            try await FleetStatus.read(
                from: StoreAddress(socketPath: "/nonexistent/s"),
                times: .ofTests(connection: .milliseconds(100))
            )
        }
    }

    // MARK: The command

    /// Runs `fmdata fleet status`.
    private func command(_ arguments: [String], store: String? = nil) async throws -> (status: Int32, output: String) {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("output")
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            let build = try #require(Bundle.main.executableURL?.deletingLastPathComponent())
            var environment = ProcessInfo.processInfo.environment
            environment["FM_FLEET_STORE"] = store
            let output = try FileHandle(forWritingTo: file)
            let process = try ChildProcess(
                build.appendingPathComponent("fmdata").path,
                ["fleet", "status"] + arguments,
                environment: environment,
                output: output,
                errors: try FileHandle(forWritingTo: file)
            )
            let status = await withCheckedContinuation { continuation in
                // A thread of its own: waiting blocks, and the threads of tasks are few.
                Thread.detachNewThread { continuation.resume(returning: process.waitUntilExit()) }
            }
            return (status, try String(contentsOf: file, encoding: .utf8))
        }
    }

    @Test(.needsStore)
    func theCommandShowsTheSlotsOfAStore() async throws {
        try await StoreServer.run { store in
            let client = StoreClient.make(at: store.address)
            let settings = SlotCalls.Settings.ofTests(slots: 1)
            for me in ["ada", "bob"] {
                let calls = SlotCalls(client: client, names: .init(digest: Self.digest), settings: settings, me: me)
                _ = try await calls.take("lease of \(me)")
                _ = try await client.send { _ in RESPCommand("HSET", calls.names.pool, "a:bob", "9999999999999") }
            }
            let (status, output) = try await command(["--store", "unix://\(store.socket)", "--ndjson"])
            expectNoDifference(status, 0)
            #expect(
                output.hasPrefix(#"{"login":"\#(Self.digest)","slots":[{"slot":1,"state":"logging in","holder":"ada""#)
            )
            #expect(output.contains(#""waiting":["bob"],"logins":0,"strays":0"#))
            let table = try await command(["--table"], store: "unix://\(store.socket)")
            for text in [Self.digest, "logging in", "ada", "bob"] {
                #expect(table.output.contains(text))
            }
            await client.shutdown()
        }
    }

    @Test func theCommandTakesNoPasswordInItsArguments() async throws {
        let (status, output) = try await command(["--store", "redis://:canary@localhost"])
        expectNoDifference(status, 64)
        #expect(!output.contains("canary"))
        let other = try await command([], store: "redis:/canary@localhost")
        expectNoDifference(other.status, 64)
        #expect(other.output.contains("FM_FLEET_STORE is no URL"))
        #expect(!other.output.contains("canary"))
    }

    @Test(.thorough) func theCommandSaysThatThereIsNoStore() async throws {
        let (status, output) = try await command(["--store", "unix:///nonexistent/s"])
        expectNoDifference(status, 5)
        #expect(output.contains("unreachable"))
        expectNoDifference(awaited: try await command([]).status, 64)
    }
}
