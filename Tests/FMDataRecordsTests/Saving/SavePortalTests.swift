import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Portal rows in a save.
@Suite(.timeLimit(.minutes(15))) struct SavePortalTests {
    typealias Phone = SavedContact.Phone

    private func numbers(_ world: World) -> [String] {
        (world.sandbox.records(ofTable: "Phones", inDatabase: "World") ?? []).compactMap { $0.values["Number"] }
    }

    @Test func rowsAreChangedAddedAndDeletedInOneCommit() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            draft.portals?.phones[0].number = "1"
            draft.portals?.phones[1] = Phone(kind: "mobile", number: "2")
            let saved = try await people.save(draft).firstValue()
            expectNoDifference(saved.sentFields, ["City", "Phones::Number", "Phones::Kind"])
            expectNoDifference(saved.sentPortals, ["Phones"])
            expectNoDifference(saved.result.newPortalRecordInfo.map(\.tableName), ["Phones"])
            expectNoDifference(
                saved.record.portalData?.phones,
                [
                    Phone(recordId: 1, modId: 1, kind: "work", number: "1"),
                    Phone(recordId: 4, modId: 0, kind: "mobile", number: "2"),
                ]
            )
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
            expectNoDifference(numbers(world), ["1", "+1 212 555 0142", "2"])
        }
    }

    @Test func aSecondSaveRightAfterOneWithRows() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.portals?.phones[0].number = "1"
            draft.portals?.phones.append(Phone(kind: "home", number: "2"))
            for round in 3...5 {
                draft = try await people.save(draft).firstValue().record.draft()
                draft.portals?.phones[0].number = "\(round)"
                draft.portals?.phones[2].number = "new \(round)"
            }
            let last = try await people.save(draft).firstValue()
            expectNoDifference(last.record.portalData?.phones.map(\.number), ["5", "+44 20 7946 0002", "new 5"])
            expectNoDifference(last.record.portalData?.phones.map(\.modId), [4, 0, 3])
            // None of the writes was refused.
            expectNoDifference(world.sandbox.counters.requests[.editRecord], 4)
        }
    }

    /// Changes the first phone as another client.
    private func disturb(_ world: World, _ fields: FieldData) async throws {
        _ = try await world.database.addLayout("Phones").editRecord(fields, recordId: 1).firstValue()
    }

    @Test func aRowThatBothEditedIsMergedByField() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.portals?.phones[0].number = "1"
            try await disturb(world, ["Kind": "home"])
            let conflict = await people.save(draft).awaitSingleResult().failure?.saveConflict
            expectNoDifference(conflict?.fields.map(\.field), ["Phones::Kind"])
            expectNoDifference(conflict?.contested, [])
            let saved = try await people.save(draft, onConflict: .merge).firstValue()
            expectNoDifference(
                saved.record.portalData?.phones[0],
                Phone(recordId: 1, modId: 2, kind: "home", number: "1")
            )
            expectNoDifference(numbers(world)[0], "1")
        }
    }

    @Test func aFieldOfARowThatBothEditedIsAConflict() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            draft.portals?.phones[0].number = "mine"
            try await disturb(world, ["Number": "theirs"])
            for policy: DataAPI.ConflictPolicy in [.fail, .merge] {
                let conflict = await people.save(draft, onConflict: policy).awaitSingleResult().failure?.saveConflict
                let row = DataAPI.RelatedRecord(portal: "Phones", recordId: 1)
                expectNoDifference(conflict?.contested.map(\.row), [row])
                expectNoDifference(conflict?.contested.map(\.theirs), ["theirs"])
            }
            // Nothing of the save was written.
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
            let saved = try await people.save(draft, onConflict: .mine).firstValue()
            expectNoDifference(saved.record.portalData?.phones[0].number, "mine")
            expectNoDifference(saved.settledConflicts.map(\.field), ["Phones::Number"])
        }
    }

    @Test func aRowThatTheyDeleted() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            draft.portals?.phones[0].number = "mine"
            _ = try await world.database.addLayout("Phones").deleteRecord(recordId: 1).firstValue()
            let conflict = await people.save(draft, onConflict: .merge).awaitSingleResult().failure?.saveConflict
            expectNoDifference(conflict?.rows.map(\.kind), [.deletedByOther])
            let given = try await people.save(draft, onConflict: .theirs).firstValue()
            expectNoDifference(given.result.kind, .unchanged)
            expectNoDifference(given.record.portalData?.phones.count, 1)
        }
    }

    @Test func aRowThatBothDeleted() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.city = "Paris"
            draft.portals?.phones.removeFirst()
            _ = try await world.database.addLayout("Phones").deleteRecord(recordId: 1).firstValue()
            let saved = try await people.save(draft).firstValue()
            expectNoDifference(saved.sentFields, ["City"])
            expectNoDifference(saved.sentPortals, [])
            expectNoDifference(saved.record.portalData?.phones.map(\.recordId), [2])
        }
    }

    @Test func rowsBeyondThoseThatWereReadAreNotDeleted() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            let rows = ["Phones": (0..<70).map { ["Phones::Number": "n\($0)"] }]
            _ = try await world.contacts.editRecord(
                record: EditRecord(editRecord: EmptyPortal(), portalData: rows),
                recordId: 1
            ).firstValue()
            let record = try await people.record(id: 1).firstValue()
            expectNoDifference(record.truncatedPortals, ["Phones"])
            var draft = record.draft()
            expectNoDifference(draft.portals?.phones.count, 50)
            draft.portals?.phones.removeLast()
            _ = try await people.save(draft).firstValue()
            expectNoDifference(numbers(world).count, 72)

            // All rows that the program has seen are read again, however many there are.
            var whole = try await people.record(id: 1, portals: [PortalRequest(name: "Phones", limit: 500)])
                .firstValue()
                .draft()
            expectNoDifference(whole.portals?.phones.count, 71)
            whole.portals?.phones[70].number = "last"
            whole.portals?.phones.append(Phone(kind: "home", number: "new"))
            let saved = try await people.save(whole).firstValue()
            expectNoDifference(saved.record.portalData?.phones.count, 72)
            expectNoDifference(saved.record.truncatedPortals, [])
        }
    }

    @Test func aLostAnswerAddsNoRowTwice() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            draft.portals?.phones.append(Phone(kind: "home", number: "new"))
            world.sandbox.inject(.resetAfterExecution, on: .editRecord)
            // An equal row may be another client's.
            let lost = await people.save(draft).awaitSingleResult().failure
            expectNoDifference(lost?.outcomeIsUnknown, true)
            let record = try await people.record(id: 1).firstValue()
            expectNoDifference(record.portalData?.phones.map(\.recordId), [1, 2, 4])
            var next = record.draft()
            next.portals?.phones.append(Phone(kind: "home", number: "newer"))
            world.sandbox.inject(.reset, on: .editRecord)
            // A write of rows alone is guarded by no modId, so the first attempt may still be under way.
            let error = await people.save(next).awaitSingleResult().failure
            expectNoDifference(error?.outcomeIsUnknown, true)
            expectNoDifference(world.sandbox.counters.executedWrites, 1)
        }
    }

    @Test func aRowWithTheIdOfAnotherIsRefused() async throws {
        try await World.run { world in
            let people = world.database.layout(SavedContact.self)
            var draft = try await people.record(id: 1).firstValue().draft()
            guard let first = draft.portals?.phones[0] else { return }
            draft.portals?.phones.append(first)
            let error = await people.save(draft).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.portals, ["Phones"])
            expectNoDifference(world.sandbox.counters.requests[.editRecord], nil)
        }
    }
}
