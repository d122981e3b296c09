import CustomDump
import FMData
import FMTestSupport
import NIOCore
import Testing

@testable import FMDataFleet

/// The script in a real store.
@Suite(.needsStore, .timeLimit(.minutes(5)))
struct SlotCallsTests {
    @Test func theScriptHasTheHashByWhichItIsCalled() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            let answer = try await client.send { _ in RESPCommand("SCRIPT", "LOAD", StoreScript.slots.text) }
            expectNoDifference(answer.string, StoreScript.slots.hash)
            await client.shutdown()
        }
    }

    @Test func whatIsSaidOfASlotThatIsNotKnownIsNoAnswer() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            let calls = SlotCalls(client: client, names: .init(digest: "d"), settings: .ofTests(slots: 2), me: "me")
            await #expect(throws: SlotCalls.Forgotten.self) { try await calls.give(slot: 1, lease: "l", life: nil) }
            await #expect(throws: SlotCalls.Forgotten.self) {
                try await calls.put([1], slot: 1, lease: "l", life: 1000)
            }
            expectNoDifference(awaited: try await calls.keep([1: "l"]), [.again(1)])
            expectNoDifference(awaited: try await calls.give(slot: 1, lease: "l", life: nil), true)
            await client.shutdown()
        }
    }

    /// A full host of which the fleet has no session is asked once in a while, not by each member in turn.
    @Test func nobodyLogsInForAWhileWhereTheHostHasNoRoomForAny() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            func calls(_ me: String) -> SlotCalls {
                SlotCalls(client: client, names: .init(digest: "d"), settings: .ofTests(slots: 2), me: me)
            }
            let first = SlotCalls.Taken.slot(1, sealed: [], isStray: false, waiting: 0)
            expectNoDifference(awaited: try await calls("a").take("l"), first)
            expectNoDifference(awaited: try await calls("a").full(slot: 1, lease: "l"), true)
            expectNoDifference(awaited: try await calls("b").take("m"), .wait(1000))
            let pool = SlotCalls.Names(digest: "d").pool
            _ = try await client.send { _ in RESPCommand("HSET", pool, "rest", "0") }
            expectNoDifference(awaited: try await calls("b").take("m"), first)
            // A session of the fleet is passed on meanwhile.
            expectNoDifference(awaited: try await calls("b").put([1], slot: 1, lease: "m", life: 3_600_000), true)
            _ = try await client.send { _ in RESPCommand("HSET", pool, "rest", "9999999999999") }
            expectNoDifference(awaited: try await calls("b").give(slot: 1, lease: "m", life: nil), true)
            expectNoDifference(
                awaited: try await calls("c").take("n"),
                .slot(1, sealed: [1], isStray: false, waiting: 0)
            )
            expectNoDifference(awaited: try await calls("d").take("o"), .wait(1000))
            await client.shutdown()
        }
    }

    @Test func whoeverHoldsAllSlotsAsksForMoreHalfAsOftenAsTheOthers() async throws {
        try await StoreServer.run { server in
            let client = StoreClient.make(at: server.address)
            func calls(_ me: String) -> SlotCalls {
                SlotCalls(client: client, names: .init(digest: "d"), settings: .ofTests(slots: 1), me: me)
            }
            _ = try await calls("a").take("l")
            expectNoDifference(awaited: try await calls("a").take("m"), .wait(2000))
            expectNoDifference(awaited: try await calls("b").take("n"), .wait(1000))
            await client.shutdown()
        }
    }

    @Test func anAccountNeedsOnlyTheRightsThatAreDocumented() async throws {
        let rights =
            "on >secret ~fm:* &fm:* +hello +ping +info +client|setname +script|load +eval +evalsha +get +set +subscribe "
            + "+unsubscribe +publish +time +hgetall +hmget +hset +hdel +zadd +zrange +zrem +pexpire"
        try await StoreServer.run { server in
            let owner = StoreClient.make(at: server.address)
            _ = try await owner.send { _ in
                var command = RESPCommand("ACL", "SETUSER", "fleet")
                for right in rights.split(separator: " ") { command.append(String(right)) }
                return command
            }
            await owner.shutdown()
            var address = server.address
            address.user = "fleet"
            address.password = "secret"
            let client = StoreClient.make(at: address)
            let calls = SlotCalls(client: client, names: .init(digest: "d"), settings: .ofTests(slots: 1), me: "me")
            client.subscribe("fm:{d}:c:me")
            expectNoDifference(awaited: try await calls.take("l"), .slot(1, sealed: [], isStray: false, waiting: 0))
            expectNoDifference(awaited: try await calls.put([1], slot: 1, lease: "l", life: 1000), true)
            try await calls.noteRefusal(212)
            expectNoDifference(awaited: try await calls.refusal(), 212)
            try await PollBucket(client: client, limit: .init()).turn("host")
            await #expect(throws: StoreError(.refused, word: "NOPERM")) {
                try await client.send { _ in RESPCommand("FLUSHALL") }
            }
            await client.shutdown()
        }
    }
}
