import PostgresSupport
import Testing

@testable import FMData
@testable import PostgresSample

/// The rules of slots, one by one.
@Suite(.needsPostgres, .timeLimit(.minutes(10)), .serialized)
struct PostgresSlotTests {
    private func slot(_ budget: PostgresBudget, _ taker: Taker = Taker()) async throws -> DataAPI.SessionBudget.Slot {
        try await budget.budget.take(taker.request)
    }

    /// A task that waits in the line, when `count` wait.
    private func waiting(
        _ store: PostgresServer,
        _ budget: PostgresBudget,
        _ taker: Taker = Taker(),
        count: Int = 1
    ) async throws -> Task<DataAPI.SessionBudget.Slot, any Error> {
        let task = Task { try await slot(budget, taker) }
        try await until(store, "count(*) = \(count) FROM fm_waiters")
        return task
    }

    // MARK: The line

    @Test func untilALoginHasSucceededOneSlotAloneIsGranted() async throws {
        try await withStore { store in
            let (one, two) = (PostgresBudget(store, slots: 4), PostgresBudget(store, slots: 4))
            let first = try await slot(one)
            #expect(first.number == 1)
            #expect(first.token == nil)
            let second = try await waiting(store, two)
            #expect(try await one.budget.put("token", first, .seconds(600)))
            #expect(try await second.value.number == 2)
        }
    }

    @Test func whoeverHasWaitedForLongestIsNext() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            let held = try await slot(budget)
            let first = try await waiting(store, budget)
            let second = try await waiting(store, budget, count: 2)
            try await budget.budget.give(held, nil)
            try await budget.budget.give(try await first.value, nil)
            try await budget.budget.give(try await second.value, nil)
        }
    }

    @Test func whoeverHoldsLeastGoesBeforeWhoeverWantsASecondSlot() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 2)
            let (greedy, other) = (Taker(), Taker())
            let held = try await slot(budget, greedy)
            #expect(try await budget.budget.put("token", held, .seconds(600)))
            let others = try await slot(budget, other)
            let second = try await waiting(store, budget, greedy)
            let modest = try await waiting(store, budget, count: 2)
            try await budget.budget.give(others, nil)
            let granted = try await modest.value
            #expect(granted.number == 2)
            #expect(granted.waiting == 1)
            try await budget.budget.give(granted, nil)
            #expect(try await second.value.number == 2)
        }
    }

    @Test func whoeverWaitsRecallsASlotOfWhoeverHoldsMost() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 3)
            let (modest, greedy) = (Taker(), Taker())
            let first = try await slot(budget, modest)
            #expect(try await budget.budget.put("token", first, .seconds(600)))
            let second = try await slot(budget, greedy)
            _ = try await slot(budget, greedy)
            let next = try await waiting(store, budget)
            await greedy.hears(.recalled)
            // The one that was held for longer.
            try await until(store, "recalled IS NOT NULL FROM fm_slots WHERE slot = 2")
            try await budget.budget.give(second, nil)
            #expect(try await next.value.number == 2)
        }
    }

    @Test func aCancelledTakingLeavesTheLine() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            let held = try await slot(budget)
            let cancelled = try await waiting(store, budget)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            try await until(store, "count(*) = 0 FROM fm_waiters")
            try await budget.budget.give(held, nil)
            #expect(try await slot(budget).number == 1)
        }
    }

    @Test func aTakenSlotWhoseAnswerIsLostIsTheSameSlotWhenItIsAskedForAgain() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 2)
            try await budget.budget.give(try await slot(budget), nil)
            let table = SlotTable(query: store.client().query, settings: .ofTests(slots: 2))
            let claim = SlotTable.Claim(login: Taker().request.key.description, member: "m", lease: "l")
            #expect(try await table.take(claim, held: 0)?.slot == 1)
            #expect(try await table.take(claim, held: 0)?.slot == 1)
            try await until(store, "sum(strays) = 0 AND count(lease) = 1 FROM fm_slots")
            // Whoever leaves gives back what may have been granted.
            try await table.leave(claim)
            try await until(store, "count(lease) = 0 FROM fm_slots")
        }
    }

    @Test func programsThatStartTogetherMakeTheTables() async throws {
        let store = try await PostgresServer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await PostgresBudget(store, slots: 1).prepare() } }
            try await group.waitForAll()
        }
        #expect(try await slot(PostgresBudget(store, slots: 1)).number == 1)
        await store.stop()
    }

    // MARK: Leases

    @Test func whoeverDiesDuringALoginIsCounted() async throws {
        try await withStore { store in
            _ = try await slot(PostgresBudget(store, slots: 1) { $0.renewal = .seconds(3600) })
            try await endLease(store)
            let heir = PostgresBudget(store, slots: 1)
            #expect(try await slot(heir).token == nil)
            try await until(store, "sum(strays) = 1 FROM fm_slots")
        }
    }

    @Test func aLoginThatMayHaveOpenedASessionLeavesItsSlot() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            try await budget.budget.left(try await slot(budget))
            try await endLease(store)
            _ = try await slot(budget)
            try await until(store, "sum(strays) = 1 FROM fm_slots")
        }
    }

    @Test func aTokenThatComesTooLateIsRefused() async throws {
        try await withStore { store in
            let sleeper = PostgresBudget(store, slots: 1) { $0.renewal = .seconds(3600) }
            let late = try await slot(sleeper)
            try await endLease(store)
            let heir = PostgresBudget(store, slots: 1)
            let held = try await slot(heir)
            #expect(try await !sleeper.budget.put("late", late, .seconds(600)))
            #expect(try await heir.budget.put("token", held, .seconds(600)))
            // Neither of these changes the heir's slot.
            #expect(try await !sleeper.budget.drop("token", late))
            try await sleeper.budget.give(late, .seconds(600))
            try await until(store, "count(lease) = 1 AND count(token) = 1 FROM fm_slots")
        }
    }

    @Test func whoeverFindsAnotherLeaseHasLostItsSlot() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            let taker = Taker()
            _ = try await slot(budget, taker)
            try await change(store, "UPDATE fm_slots SET lease = 'another'")
            await taker.hears(.lost)
        }
    }

    @Test func whatTheTableHasForgottenIsPutAgain() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            let taker = Taker()
            let held = try await slot(budget, taker)
            #expect(try await budget.budget.put("token", held, .seconds(600)))
            try await change(store, "DELETE FROM fm_slots")
            await taker.hears(.forgotten)
            try await change(store, "DELETE FROM fm_slots")
            // A slot that is given back meanwhile takes its token along.
            try await budget.budget.give(held, nil)
            #expect(try await slot(PostgresBudget(store, slots: 1)).token == "token")
        }
    }

    @Test func aTokenIsDroppedIfTheSlotHasIt() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            let held = try await slot(budget)
            #expect(try await budget.budget.put("token", held, .seconds(600)))
            #expect(try await budget.budget.drop("another", held))
            try await until(store, "count(token) = 1 FROM fm_slots")
            #expect(try await budget.budget.drop("token", held))
            try await until(store, "count(token) = 0 FROM fm_slots")
        }
    }

    // MARK: Lost answers

    @Test func aGivingWithoutAnAnswerIsRepeated() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            let held = try await slot(budget)
            #expect(try await budget.budget.put("token", held, .seconds(600)))
            await store.killNow()
            await #expect(throws: PostgresClient.Failure.self) { try await budget.budget.give(held, nil) }
            try await store.start()
            #expect(try await slot(PostgresBudget(store, slots: 1)).token == "token")
        }
    }

    @Test func whoeverCouldNotGiveASlotBackGoesOnWithIt() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 1)
            let taker = Taker()
            let held = try await slot(budget, taker)
            #expect(try await budget.budget.put("token", held, .seconds(600)))
            await store.killNow()
            await #expect(throws: PostgresClient.Failure.self) { try await budget.budget.give(held, nil) }
            let again = try await slot(budget, taker)
            #expect(again.lease == held.lease)
            #expect(again.token == "token")
            try await store.start()
            let next = try await waiting(store, PostgresBudget(store, slots: 1))
            await taker.hears(.recalled)
            try await budget.budget.give(again, nil)
            #expect(try await next.value.token == "token")
        }
    }

    // MARK: What the host has refused

    @Test func aFullHostLimitsAllToWhatIsOpen() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 4)
            let held = try await slot(budget)
            #expect(try await budget.budget.put("token", held, .seconds(600)))
            try await budget.budget.full(try await slot(budget))
            try await until(store, "cap = 1 AND rests IS NULL FROM fm_logins")
            // A minute is an hour here.
            try await change(store, "UPDATE fm_logins SET capped = capped + interval '1 hour'")
            let next = try await waiting(store, budget)
            try await budget.budget.give(held, nil)
            #expect(try await next.value.token == "token")
        }
    }

    @Test func nobodyLogsInForAWhileWhereTheHostHasNoRoomForAny() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 4)
            let held = try await slot(budget)
            // Five seconds are an hour here.
            try await change(
                store,
                """
                CREATE FUNCTION longer() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN NEW.rests = NEW.rests + interval ''1 hour''; RETURN NEW; END'
                """
            )
            try await change(
                store,
                "CREATE TRIGGER longer BEFORE INSERT ON fm_logins FOR EACH ROW EXECUTE FUNCTION longer()"
            )
            try await budget.budget.full(held)
            let next = try await waiting(store, budget)
            try await change(store, "UPDATE fm_logins SET rests = clock_timestamp()")
            #expect(try await next.value.number == 1)
        }
    }

    @Test func aRefusedLoginIsNotSentAgainForAMinute() async throws {
        try await withStore { store in
            let (one, two) = (PostgresBudget(store, slots: 4), PostgresBudget(store, slots: 4))
            try await one.budget.refused(try await slot(one), 212)
            // A minute is an hour here.
            try await change(store, "UPDATE fm_logins SET refused = refused + interval '1 hour'")
            let error = await #expect(throws: DataAPI.SessionBudget.CredentialsRefused.self) { try await slot(two) }
            #expect(error?.code == 212)
            try await change(store, "UPDATE fm_logins SET refused = clock_timestamp()")
            #expect(try await slot(two).number == 1)
        }
    }

    // MARK: Secrets

    @Test func noTokenLiesInTheTableInTheClearAndNoneIsOpenedElsewhere() async throws {
        try await withStore { store in
            let budget = PostgresBudget(store, slots: 2)
            let held = try await slot(budget)
            #expect(try await budget.budget.put("canary", held, .seconds(600)))
            let rows = try await store.client().query("SELECT fm_slots::text FROM fm_slots")
            #expect(rows.count == 2)
            #expect(!rows.description.contains("canary"))
            // Somebody moves it to the other slot.
            try await change(
                store,
                """
                UPDATE fm_slots AS s SET token = f.token, dies = f.dies, granted = f.granted FROM fm_slots AS f
                WHERE s.slot = 2 AND f.slot = 1
                """
            )
            let moved = try await slot(budget)
            #expect(moved.number == 2)
            #expect(moved.token == nil)
            try await until(store, "token IS NULL FROM fm_slots WHERE slot = 2")
        }
    }
}
