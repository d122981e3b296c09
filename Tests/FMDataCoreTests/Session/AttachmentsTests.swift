import CustomDump
import Dispatch
import FMData
import FMTestSupport
import Testing

@testable import FMDataCore

/// A value of each type is kept with an object, and is made when it is first asked for.
@Suite struct AttachmentsTests {
    private final class Memory: Sendable {}

    private final class Watcher: DatabaseObserver {
        let told = Locked<[String]>([])

        func written(_ recordId: Int?, on layout: String) { told.change { $0.append("\(recordId ?? 0) on \(layout)") } }
        func beginAnew() { told.change { $0.append("anew") } }
        func shutDown() { told.change { $0.append("shut down") } }
    }

    @Test func aValueIsMadeOnce() {
        let attachments = Attachments()
        let first = attachments.value { Memory() }
        let second: Memory = attachments.value {
            Issue.record("There is one already.")
            return Memory()
        }
        #expect(first === second)
    }

    @Test func eachTypeHasItsOwn() {
        let attachments = Attachments()
        expectNoDifference(attachments.value { 1 }, 1)
        expectNoDifference(attachments.value { "one" }, "one")
        expectNoDifference(attachments.value { 2 }, 1)
    }

    @Test func threadsThatAskAtTheSameTimeGetTheSameValue() {
        let attachments = Attachments()
        let values = Locked<Set<ObjectIdentifier>>([])
        let kept = Locked<[Memory]>([])
        DispatchQueue.concurrentPerform(iterations: 200) { _ in
            let value = attachments.value { Memory() }
            kept.change { $0.append(value) }
            values.change { $0.insert(ObjectIdentifier(value)) }
        }
        expectNoDifference(values.value.count, 1)
        expectNoDifference(kept.value.count, 200)
    }

    /// Making a value may ask for another one.
    @Test func aValueMayBeMadeOfAnother() {
        let attachments = Attachments()
        let text = attachments.value { "\(attachments.value { 17 })" }
        expectNoDifference(text, "17")
        expectNoDifference(attachments.all(Int.self), [17])
    }

    @Test func valuesOfAKindAreListedInTheOrderInWhichTheyWereMade() {
        let attachments = Attachments()
        _ = attachments.value { "one" }
        _ = attachments.value { Memory() }
        _ = attachments.value { 2 }
        expectNoDifference(attachments.all((any CustomStringConvertible).self).map(\.description), ["one", "2"])
    }

    @Test func anObserverIsToldOfWritesAndOfAnotherAccount() async throws {
        try await World.run { world in
            let watcher = world.database.attachments.value { Watcher() }
            _ = try await world.contacts.editRecord(["Name": "Ada"], recordId: 1).firstValue()
            _ = try await world.contacts.getRecordById(recordId: 1).returnAs(FieldData.self).firstValue()
            _ = await world.contacts.editRecord(["Name": "Ada"], recordId: 4711).awaitSingleResult()
            world.database.replaceCredentials(Credentials(user: "other", password: "other"))
            expectNoDifference(watcher.told.value, ["1 on Contacts", "anew"])
        }
    }
}
