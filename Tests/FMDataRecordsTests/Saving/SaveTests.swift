import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Changes of records in the sandbox, on which another client works as well.
@Suite(.timeLimit(.minutes(15))) struct SaveTests {
    private func stored(_ world: World, _ id: Int = 1) -> [String: String] {
        world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first { $0.recordId == id }?.values ?? [:]
    }

    private func writes(_ world: World) -> Int { world.sandbox.counters.requests[.editRecord] ?? 0 }
    private func reads(_ world: World) -> Int { world.sandbox.counters.requests[.getRecord] ?? 0 }

    /// A second client of the same server.
    private func somebodyElse(_ world: World) -> DataAPI.TypedLayout<SavedContact> {
        DataAPI.Server(host: world.sandbox.url, config: .patient)
            .addDatabase(
                "World",
                credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            .layout(SavedContact.self)
    }

    // MARK: What is sent

    @Test func onlyWhatDiffersTravels() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            draft.notes = draft.notes?.replacingOccurrences(of: "\r", with: "\n")
            draft.balance = FMNumber("1815.120")
            let saved = try await people.save(draft).firstValue()
            expectNoDifference(saved.sentFields, ["City"])
            expectNoDifference(saved.sentPortals, [])
            expectNoDifference(saved.result.kind, .updated)
            expectNoDifference(saved.modId, 1)
            expectNoDifference(saved.record.modId, 1)
            expectNoDifference(saved.record.fieldData.city, "Paris")
            expectNoDifference(stored(world)["Balance"], "1815.12")
            expectNoDifference(stored(world)["City"], "Paris")
            // The answer does not contain calculations, so this one is out of date.
            expectNoDifference(saved.record.fieldData.label, "Ada Lovelace, London")
            let after = saved.record.draft()
            expectNoDifference(after.base.modId, 1)
            expectNoDifference(reads(world), 1)
        }
    }

    @Test func nothingIsSentWhenNothingDiffers() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            let record = try await people.record(id: 1).firstValue()
            let saved = try await people.save(record.draft()).firstValue()
            expectNoDifference(
                saved,
                DataAPI.Saved(record: record, result: .init(.unchanged, recordId: record.recordId, modId: record.modId))
            )
            expectNoDifference(writes(world), 0)
        }
    }

    @Test func nilClears() async throws {
        for omits in [false, true] {
            try await World.run(client: { if omits { $0.encoding.nilValues = .omit } }) { world in
                let people = world.database.layout(SavedContact.self)
                var draft = try await people.record(id: 1).firstValue().draft()
                draft.city = nil
                draft.nicknames = ["Countess"]
                let saved = try await people.save(draft).firstValue()
                expectNoDifference(saved.sentFields, ["City", "Nicknames(2)"])
                expectNoDifference(stored(world)["City"], nil)
                expectNoDifference(stored(world)["Nicknames"], "Countess")
                expectNoDifference(stored(world)["Nicknames(2)"], nil)
            }
        }
    }

    @Test func fieldsWithoutATypeAreWrittenAsTheyAreGiven() async throws {
        try await World.run { world in
            let people = world.contacts.of(FieldData.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.fields["City"] = "Paris"
            draft.fields["Balance"] = "1815.120"
            // This removes the field from the value, and does not change it in the record.
            draft.fields["Email"] = nil
            let saved = try await people.save(draft).firstValue()
            expectNoDifference(saved.sentFields, ["City"])
            expectNoDifference(stored(world)["Email"], "ada@example.com")
        }
    }

    @Test func containersStayAsTheyAre() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("abc".utf8))
            _ = try await world.contacts.uploadContainer(file, to: "Photo", recordId: 1).firstValue()
            let content = stored(world)["Photo"]
            #expect(content != nil)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            // The container's URL is another one in each answer, which does not count as a change.
            _ = try await somebodyElse(world).layout.editRecord(["Name": "Ada Lovelace"], recordId: 1).firstValue()
            let saved = try await people.save(draft, onConflict: .merge).firstValue()
            expectNoDifference(saved.sentFields, ["City"])
            expectNoDifference(stored(world)["Photo"], content)
        }
    }

    @Test func aFieldThatCannotBeWrittenIsNamed() async throws {
        // The description of a layout is kept for a minute.
        try await World.run(clock: TestClock()) { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.label = "Something"
            // The layout is asked once, and nothing is sent.
            let count = writes(world)
            for _ in 0..<2 {
                let refused = await people.save(draft).awaitSingleResult().failure
                expectNoDifference(refused?.code, .invalidRequest)
                expectNoDifference(refused?.fields, ["Label"])
            }
            expectNoDifference(writes(world), count)
            expectNoDifference(world.sandbox.counters.requests[.layoutMetadata], 1)
        }
    }

    @Test func aValueThatIsRefusedIsNamed() async throws {
        try await World.run { world in
            let people = world.contacts.of(FieldData.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.fields["Status"] = "nonsense"
            let error = await people.save(draft).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .valueNotInList)
            expectNoDifference(error?.fields, ["Status"])
        }
    }

    @Test func theRecordIsReadAgainWhereAskedFor() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            let saved = try await people.save(draft, refreshing: true).firstValue()
            expectNoDifference(saved.record.fieldData.label, "Ada Lovelace, Paris")
            var next = saved.record.draft()
            next.city = nil
            let script = ScriptQuery(script: "Echo", scriptParam: "a")
            let second = try await people.save(next, script: script).firstValue()
            expectNoDifference(second.scriptResponse?.scriptResult, "a")
            expectNoDifference(second.record.fieldData.label, "Ada Lovelace")
            expectNoDifference(second.modId, 2)
        }
    }

    @Test func whatCannotBeReadAgainIsSavedAllTheSame() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            world.sandbox.inject(.html(status: 502), on: .getRecord)
            let saved = try await people.save(draft, refreshing: true).firstValue()
            expectNoDifference(saved.refreshFailure?.httpStatus, 502)
            expectNoDifference(saved.modId, 1)
            expectNoDifference(saved.record.modId, 0)
            expectNoDifference(saved.record.fieldData.city, "Paris")
            // The next save reads the record's current state.
            var next = saved.record.draft()
            next.balance = 3
            let second = try await people.save(next, onConflict: .merge).firstValue()
            expectNoDifference(second.sentFields, ["Balance"])
            expectNoDifference(second.modId, 2)
        }
    }

    // MARK: Changes by another client

    private func draftOfTwo(
        _ world: World,
        _ theirs: FieldData
    ) async throws -> (DataAPI.TypedLayout<SavedContact>, DataAPI.Draft<SavedContact>) {
        let people = world.database.layout(SavedContact.self)
        var draft = try await people.record(id: 1).firstValue().draft()
        draft.city = "Paris"
        draft.notes = "mine"
        let other = somebodyElse(world)
        _ = try await other.layout.editRecord(theirs, recordId: 1).firstValue()
        _ = await other.layout.database.logOut().awaitSingleResult()
        return (people, draft)
    }

    @Test func failingNamesTheFieldsAndNotTheirValues() async throws {
        try await World.run { world in
            let (people, draft) = try await draftOfTwo(world, ["Notes": "theirs", "Balance": 7])
            let error = await people.save(draft).awaitSingleResult().failure
            expectNoDifference(error?.code, .conflict)
            expectNoDifference(error?.fileMakerCode, .modIdMismatch)
            expectNoDifference(error?.fields, ["Notes"])
            let conflict = try #require(error?.saveConflict)
            expectNoDifference(conflict.kind, .changedByOther)
            expectNoDifference(conflict.recordId, 1)
            expectNoDifference(conflict.fields.map(\.field).sorted(), ["Balance", "ModifiedAt", "Notes"])
            let notes = try #require(conflict.contested.first)
            expectNoDifference(conflict.contested.count, 1)
            expectNoDifference([notes.base, notes.mine, notes.theirs], ["First line\rSecond line", "mine", "theirs"])
            var dumped = ""
            customDump(error, to: &dumped)
            customDump(conflict, to: &dumped)
            for secret in ["theirs", "mine", "First line"] {
                #expect(!"\(String(describing: error)) \(conflict) \(notes)".contains(secret))
                #expect(!dumped.contains(secret))
            }
            expectNoDifference(stored(world)["City"], "London")
        }
    }

    /// Another client has changed other fields, none of which is to blame.
    @Test func theFieldsOfARefusedSaveAreThoseContested() async throws {
        try await World.run { world in
            let (people, draft) = try await draftOfTwo(world, ["Balance": 7])
            let error = await people.save(draft).awaitSingleResult().failure
            expectNoDifference(error?.code, .conflict)
            expectNoDifference(error?.fields, [])
            expectNoDifference(error?.saveConflict?.fields.map(\.field).sorted(), ["Balance", "ModifiedAt"])
        }
    }

    @Test func aMergeJoinsWhatIsApart() async throws {
        try await World.run { world in
            let (people, draft) = try await draftOfTwo(world, ["Balance": 7, "City": "Paris"])
            let saved = try await people.save(draft, onConflict: .merge).firstValue()
            expectNoDifference(saved.result.kind, .updated)
            expectNoDifference(saved.sentFields, ["Notes"])
            expectNoDifference(saved.settledConflicts, [])
            expectNoDifference(saved.record.modId, 2)
            expectNoDifference(saved.record.fieldData.balance, 7)
            expectNoDifference(stored(world)["Notes"], "mine")
            expectNoDifference(stored(world)["Balance"], "7")
        }
    }

    @Test func aMergeOfOneFieldFails() async throws {
        try await World.run { world in
            let (people, draft) = try await draftOfTwo(world, ["Notes": "theirs"])
            let error = await people.save(draft, onConflict: .merge).awaitSingleResult().failure
            expectNoDifference(error?.saveConflict?.contested.map(\.field), ["Notes"])
            expectNoDifference(stored(world)["City"], "London")
        }
    }

    @Test func mineTheirsAndAClosure() async throws {
        try await World.run { world in
            let (people, draft) = try await draftOfTwo(world, ["Notes": "theirs", "Balance": 7])
            let given = try await people.save(draft, onConflict: .theirs).firstValue()
            expectNoDifference(given.result.kind, .unchanged)
            expectNoDifference(given.sentFields, [])
            expectNoDifference(given.settledConflicts.map(\.field), ["Notes"])
            expectNoDifference(given.record.fieldData.notes, "theirs")
            expectNoDifference(writes(world), 2)

            let joined = try await people.save(
                draft,
                onConflict: .resolve { .value("\($0.theirs) and \($0.mine)") }
            ).firstValue()
            expectNoDifference(joined.sentFields, ["City", "Notes"])
            expectNoDifference(stored(world)["Notes"], "theirs and mine")

            let mine = try await people.save(draft, onConflict: .mine).firstValue()
            expectNoDifference(mine.sentFields, ["Notes"])
            expectNoDifference(stored(world)["Notes"], "mine")
            expectNoDifference(mine.record.fieldData.balance, 7)
        }
    }

    @Test func aCommitWithoutAChangeIsNoConflict() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            _ = try await world.contacts.editRecord(["Name": "Ada Lovelace"], recordId: 1).firstValue()
            let saved = try await people.save(draft).firstValue()
            expectNoDifference(saved.modId, 2)
            expectNoDifference(saved.record.fieldData.city, "Paris")
        }
    }

    @Test func aRecordThatIsGone() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            _ = try await people.delete(1).firstValue()
            for policy: DataAPI.ConflictPolicy in [.fail, .mine, .theirs, .merge] {
                let error = await people.save(draft, onConflict: policy).awaitSingleResult().failure
                expectNoDifference(error?.saveConflict?.kind, .deletedByOther)
                expectNoDifference(error?.fileMakerCode, .recordMissing)
            }
        }
    }

    @Test func aRecordInUseIsWaitedFor() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            world.sandbox.inject(.error(.init(301)), on: .editRecord, count: 2)
            _ = try await people.save(draft).firstValue()
            expectNoDifference(writes(world), 3)
            expectNoDifference(stored(world)["City"], "Paris")
        }
    }

    @Test func theTimeOfTheCallIsThatOfAllItsSteps() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            world.sandbox.inject(.error(.init(301)), on: .editRecord, count: nil)
            let hasty = people.timeouts { $0.total = .milliseconds(50) }
            let error = await hasty.save(draft).awaitSingleResult().failure
            #expect(error?.fileMakerCode == .recordInUse || error?.code == .timeout)
            world.sandbox.clearFaults()
        }
    }

    // MARK: Lost answers

    @Test(arguments: [Sandbox.Fault.resetAfterExecution, .brokenJSON, .cut(afterBodyBytes: 3)])
    func aWriteThatMayHaveBeenCarriedOutIsUnknown(fault: Sandbox.Fault) async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            world.sandbox.inject(fault, on: .editRecord)
            let error = await people.save(draft).awaitSingleResult().failure
            expectNoDifference(error?.outcomeIsUnknown, true)
            #expect(error?.reason.contains("by an equal one of somebody else") == true)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }

    /// Two clients raise a counter by one. The write of one of them breaks before it is carried out.
    @Test func anEqualWriteOfAnotherClientIsNotTakenForOnesOwn() async throws {
        let clock = ManualClock()
        try await World.run(sandbox: { $0.clock = clock }) { world in
            let people = world.database.layout(PlainContact.self)
            _ = try await people.update(1) { $0.balance = 7 }.firstValue()
            world.sandbox.inject(.reset, on: .editRecord)
            world.sandbox.inject(.delay(.seconds(1)), on: .getRecord, skipping: 1)
            let update = TrackingSubscriber<DataAPI.Saved<PlainContact>, FMRest.APIError>()
            people.update(1) { $0.balance = FMNumber(($0.balance?.int ?? 0) + 1) }.subscribe(update)
            await clock.untilWaiting()
            _ = try await world.contacts.editRecord(["Balance": 8], recordId: 1).firstValue()
            clock.advance(by: .seconds(1))
            guard case .failure(let error) = await update.completion() else {
                Issue.record("the other client's write was taken for this one: \(update.values)")
                return
            }
            expectNoDifference(error.outcomeIsUnknown, true)
            #expect(error.reason.contains("by an equal one of somebody else"))
            expectNoDifference(stored(world)["Balance"], "8")
        }
    }

    @Test func aWriteThatWasNotCarriedOutIsSentAgain() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            world.sandbox.inject(.reset, on: .editRecord)
            let saved = try await people.save(draft).firstValue()
            expectNoDifference(saved.modId, 1)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
            expectNoDifference(stored(world)["City"], "Paris")
        }
    }

    @Test func withAScriptTheOutcomeStaysUnknown() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            world.sandbox.inject(.resetAfterExecution, on: .editRecord)
            let error = await people.save(draft, script: ScriptQuery(script: "Echo")).awaitSingleResult().failure
            expectNoDifference(error?.outcomeIsUnknown, true)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }

    @Test func somebodyElseAfterALostAnswerIsAConflictOfUnknownOutcome() async throws {
        let clock = ManualClock()
        try await World.run(sandbox: { $0.clock = clock }) { world in
            let people = world.database.layout(PlainContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            world.sandbox.inject(.resetAfterExecution, on: .editRecord)
            world.sandbox.inject(.delay(.seconds(1)), on: .getRecord)
            let save = TrackingSubscriber<DataAPI.Saved<PlainContact>, FMRest.APIError>()
            people.save(draft).subscribe(save)
            await clock.untilWaiting()
            _ = try await world.contacts.editRecord(["City": "Rome"], recordId: 1).firstValue()
            clock.advance(by: .seconds(1))
            guard case .failure(let error) = await save.completion() else {
                Issue.record("nobody knows what became of it")
                return
            }
            expectNoDifference(error.code, .conflict)
            expectNoDifference(error.outcomeIsUnknown, true)
            expectNoDifference(error.saveConflict?.contested.map(\.theirs), ["Rome"])
        }
    }

    // MARK: By a closure

    @Test func aClosureEditsWhatIsThere() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let saved = try await people.update(1) { $0.city = "Paris" }.firstValue()
            expectNoDifference(saved.sentFields, ["City"])
            expectNoDifference(saved.modId, 1)
            let again = try await people.update("1") { $0.city = "Paris" }.firstValue()
            expectNoDifference(again.result.kind, .unchanged)
            expectNoDifference(writes(world), 1)
            let missing = await people.update(99) { $0.city = "Paris" }.awaitSingleResult().failure
            expectNoDifference(missing?.fileMakerCode, .recordMissing)
            let odd = await people.update("x") { $0.city = "Paris" }.awaitSingleResult().failure
            expectNoDifference(odd?.code, .invalidRequest)
        }
    }

    @Test func countersOfManyCountEverything() async throws {
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            _ = try await people.update(1) { $0.balance = 0 }.firstValue()
            // Each edit conflicts with the two others at most.
            let results = await withTaskGroup(of: FMRest.APIError?.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        await people.update(1) { $0.balance = FMNumber(($0.balance?.int ?? 0) + 1) }
                            .awaitSingleResult().failure
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            expectNoDifference(results.count { $0 != nil }, 0)
            expectNoDifference(stored(world)["Balance"], "3")
        }
    }

    @Test func aClosureMayRefuse() async throws {
        struct NotEnough: Error {}
        try await World.run { world in
            let people = world.database.layout(PlainContact.self)
            let error = await people.update(2) { draft in
                guard let balance = draft.balance, balance >= 20 else { throw NotEnough() }
            }
            .awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            #expect(error?.underlying is NotEnough)
            expectNoDifference(writes(world), 0)
        }
    }
}
