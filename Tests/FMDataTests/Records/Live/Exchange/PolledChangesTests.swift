import CustomDump
import FMTestSupport
import NIOCore
import Testing

@testable import FMData

/// What travels from the process that has polled to the others, and what these make of it.
@Suite(.timeLimit(.minutes(15))) struct PolledChangesTests {
    private typealias Exchange = DataAPI.LiveExchange
    private typealias State = LiveState<FieldData>
    private typealias Record = DataAPI.TypedLayout<FieldData>.Record

    private struct Row: Equatable {
        var id: Int
        var modId = 0

        var record: Record { Record(fieldData: ["Text": .text("\(id) \(modId)")], recordId: id, modId: modId) }
        /// As a host sends it.
        var bytes: [UInt8] {
            let text =
                #"{"fieldData": {"Text": "\#(id) \#(modId)"}, "portalData": {}, "recordId": "\#(id)", "modId": "\#(modId)"}"#
            return Array(text.utf8)
        }
    }

    private static let policy = ChangePolicy<FieldData>(areEqual: { $0.fieldData == $1.fieldData })
    private let strategy = RereadPolling(maximum: .max)
    private let server = DataAPI.Server(host: "localhost")

    /// The state after a poll that has found these rows.
    private func polled(_ rows: [Row], after state: State = State(), isInconsistent: Bool = false) -> State {
        let ids = Set(rows.map(\.id))
        let gone = state.ids.filter { !ids.contains($0) }.map { ($0, DataAPI.RemovalReason.deleted) }
        let findings = PollFindings<FieldData>(
            order: rows.map(\.id),
            read: rows.map { .record($0.record) },
            isInconsistent: isInconsistent,
            strategy: strategy
        )
        return next(state, findings, gone: Dictionary(gone) { $1 })
    }

    private func next(
        _ state: State,
        _ findings: PollFindings<FieldData>,
        gone: [Int: DataAPI.RemovalReason]
    ) -> State {
        state.next(findings, gone: gone, overtaken: [], Self.policy, origin: .poll, asOf: .uptimeNanoseconds(1)).state
    }

    /// What a poll of these rows reports.
    private func changes(from old: State, to new: State, _ rows: [Row]) -> PolledChanges? {
        let tap = RecordTap { old.modIds[$0.recordId] == $0.modId }
        for row in rows { tap.keep(row.bytes, of: .init(recordId: row.id, modId: row.modId)) }
        return PolledChanges(from: old, to: new, tap)
    }

    private func adopted(
        _ changes: [PolledChanges?],
        into state: State,
        mayBeOlder: Bool = false
    ) -> AdoptedChanges<FieldData> {
        AdoptedChanges(
            changes.compactMap { $0?.bytes }.map { .init(bytes: $0, mayBeOlder: mayBeOlder) },
            into: state,
            strategy
        ) {
            try server.reader.attempts(of: $0)
        }
    }

    private func adopting(_ changes: [PolledChanges?], into state: State) -> State {
        let adopted = adopted(changes, into: state)
        return next(state, adopted.findings, gone: adopted.findings.gone)
    }

    // MARK: Bytes

    @Test func changesComeOutOfTheirBytes() {
        let changes = PolledChanges(
            isComplete: false,
            records: [Row(id: 1).bytes, []],
            gone: [-4: .left, 5: .deleted, 6: .unknown, 7: .unreadable],
            order: [3, 1, Int.max]
        )
        expectNoDifference(PolledChanges(bytes: changes.bytes), changes)
        for kind in [PolledChanges.Kind.poll, .reset] {
            expectNoDifference(PolledChanges(bytes: PolledChanges(kind: kind).bytes)?.kind, kind)
        }
    }

    @Test func bytesThatAreNoChangesAreRefused() {
        let bytes = PolledChanges(records: [Row(id: 1).bytes], gone: [5: .deleted], order: [3, 1]).bytes
        for count in 0..<bytes.count { expectNoDifference(PolledChanges(bytes: Array(bytes[..<count])), nil) }
        expectNoDifference(PolledChanges(bytes: bytes + [0]), nil)
        var random = SeededRandom(seed: 1)
        for _ in 0..<1000 {
            var changed = bytes
            changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            // It may mean something else now, and must not trap.
            if let read = PolledChanges(bytes: changed) { _ = adopted([read], into: polled([Row(id: 1)])) }
        }
    }

    @Test func theyShowNoValueWhenTheyArePrinted() {
        let changes = PolledChanges(records: [Array("canary".utf8)])
        let shared = DataAPI.LiveExchange.Changes(bytes: changes.bytes, mayBeOlder: false)
        let poll = DataAPI.LiveExchange.Report(changes: changes.bytes, digest: "d", duration: .zero)
        for text in [String(customDumping: changes), String(customDumping: shared), String(customDumping: poll)] {
            #expect(!text.contains("canary") && !text.contains("99, 97, 110"))
        }
    }

    // MARK: Histories

    @Test(arguments: 0..<UInt64(Effort.of(40, brief: 8)))
    func whoeverAdoptsEachChangeHasTheSameRecords(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let isSorted = Bool.random(using: &random)
        var rows = (1...5).map { Row(id: $0) }
        var (leader, waiting) = (polled(rows), [PolledChanges?]())
        var follower = polled(rows)
        var last = 5
        for _ in 0..<40 {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    last += 1
                    rows.append(Row(id: last))
                case 2: if let place = rows.indices.randomElement(using: &random) { rows.remove(at: place) }
                case 3 where isSorted: rows.shuffle(using: &random)
                default: if let place = rows.indices.randomElement(using: &random) { rows[place].modId += 1 }
                }
            }
            let next = polled(rows, after: leader)
            waiting.append(changes(from: leader, to: next, rows))
            leader = next
            guard Bool.random(using: &random) else { continue }
            follower = adopting(waiting, into: follower)
            waiting = []
            expectNoDifference(follower.records.map(\.version), rows.map { .init(recordId: $0.id, modId: $0.modId) })
            expectNoDifference(follower.records.map(\.fieldData), rows.map(\.record.fieldData))
            #expect(follower.meets(leader.digest), "seed \(seed)")
        }
    }

    @Test func aPollThatFindsNothingReportsNothing() {
        let rows = [Row(id: 1), Row(id: 2)]
        let state = polled(rows)
        expectNoDifference(changes(from: state, to: polled(rows, after: state), rows), nil)
    }

    @Test func onlyNewVersionsTravelAndTheOrderOnlyIfItIsAnother() {
        let old = polled([Row(id: 1), Row(id: 2), Row(id: 3)])
        let rows = [Row(id: 1), Row(id: 3, modId: 1), Row(id: 4)]
        expectNoDifference(
            changes(from: old, to: polled(rows, after: old), rows),
            PolledChanges(records: [rows[1].bytes, rows[2].bytes], gone: [2: .deleted])
        )
        let turned = [Row(id: 3), Row(id: 2), Row(id: 1)]
        expectNoDifference(changes(from: old, to: polled(turned, after: old), turned), PolledChanges(order: [3, 2, 1]))
    }

    @Test func whatCanBeDecodedAgainTravels() throws {
        let rows = [Row(id: 1), Row(id: 2)]
        let failure = DecodingFailure(missing: DecodingKey("Text"), in: DecodingKey("fieldData"))
        let findings = PollFindings<FieldData>(
            order: [1, 2],
            read: [.record(rows[0].record), .unreadable(.init(recordId: 2, modId: 0, failure: failure))],
            strategy: strategy
        )
        let before = next(State(), findings, gone: [:])
        let after = polled(rows, after: before)
        let tap = RecordTap { _ in false }
        for row in rows { tap.keep(row.bytes, of: .init(recordId: row.id, modId: row.modId)) }
        let changes = PolledChanges(from: before, to: after, tap)
        expectNoDifference(changes?.records, [rows[1].bytes])
        expectNoDifference(adopting([changes], into: before).records.map(\.recordId), [1, 2])
    }

    @Test func whatWasNotReadMakesOthersPoll() {
        let old = polled([Row(id: 1)])
        let new = polled([Row(id: 1, modId: 1)], after: old)
        expectNoDifference(PolledChanges(from: old, to: new, nil), PolledChanges(kind: .poll))
        let adopted = adopted([PolledChanges(kind: .poll)], into: old)
        #expect(adopted.mustPoll)
        #expect(!adopted.isReset)
        expectNoDifference(adopted.findings.read.count, 0)
    }

    @Test func anotherFileMakesOthersPollAsIfNothingWereKnown() {
        let old = polled([Row(id: 1, modId: 5)])
        let new = polled([Row(id: 1, modId: 2)], after: old)
        expectNoDifference(PolledChanges(from: old, to: new, nil), PolledChanges(kind: .reset))
        let adopted = adopted([PolledChanges(kind: .reset)], into: old)
        #expect(adopted.mustPoll)
        #expect(adopted.isReset)
    }

    @Test func aRecordThatIsNoneMakesItsReaderPoll() {
        let old = polled([Row(id: 1)])
        for bytes in ["", "{", "[]", "{}", #"{"fieldData":{},"recordId":"1","modId":"1"},{}"#, "}]}}"] {
            #expect(adopted([PolledChanges(records: [Array(bytes.utf8)])], into: old).mustPoll, "\(bytes)")
        }
    }

    // MARK: What may be older

    @Test func anOlderVersionNeverReplacesANewerOne() {
        let state = polled([Row(id: 1, modId: 3)])
        let late = PolledChanges(records: [Row(id: 1, modId: 2).bytes])
        expectNoDifference(adopting([late], into: state).records.map(\.version), state.records.map(\.version))
    }

    @Test func ofAPollThatMayBeOlderOnlyNewerVersionsAreAdopted() {
        let state = polled([Row(id: 1), Row(id: 2)])
        let change = PolledChanges(
            records: [Row(id: 1, modId: 1).bytes, Row(id: 3).bytes],
            gone: [2: .deleted],
            order: [3, 1]
        )
        let adopted = adopted([change], into: state, mayBeOlder: true)
        let next = next(state, adopted.findings, gone: adopted.findings.gone)
        expectNoDifference(next.records.map(\.version), [.init(recordId: 1, modId: 1), .init(recordId: 2, modId: 0)])
        #expect(!next.meets(polled([Row(id: 3), Row(id: 1, modId: 1)]).digest))
    }

    @Test func whatCameAndWentInAPollThatMayBeOlderIsAdoptedWithTheNextDigest() {
        let state = polled([Row(id: 1), Row(id: 2), Row(id: 5)])
        let old = PolledChanges(records: [Row(id: 3).bytes, Row(id: 4).bytes], gone: [2: .deleted])
        let new = PolledChanges(records: [Row(id: 1, modId: 1).bytes], gone: [4: .left])
        let last = PolledChanges(records: [Row(id: 6).bytes])
        func found(_ changes: PolledChanges, mayBeOlder: Bool = false, digest: String? = nil) -> Exchange.Findings {
            Exchange.Findings(changes: [.init(bytes: changes.bytes, mayBeOlder: mayBeOlder)], digest: digest)
        }
        var unsettled = UnsettledChanges()
        expectNoDifference(unsettled.adopting(found(old, mayBeOlder: true)).map(\.mayBeOlder), [true])
        expectNoDifference(unsettled.adopting(found(new)).map(\.bytes), [new.bytes])
        let all = unsettled.adopting(found(last, digest: "d"))
        expectNoDifference(all, [old, new, last].map { .init(bytes: $0.bytes, mayBeOlder: false) })
        let adopted = AdoptedChanges(all, into: adopting([new], into: state), strategy) {
            try server.reader.attempts(of: $0)
        }
        let settled = next(state, adopted.findings, gone: adopted.findings.gone)
        #expect(settled.meets(polled([Row(id: 1, modId: 1), Row(id: 3), Row(id: 5), Row(id: 6)]).digest))
        expectNoDifference(unsettled.adopting(found(last, digest: "d")).map(\.bytes), [last.bytes])
    }

    @Test func changesThatWaitForADigestAreForgottenByAPollAndBeyondABound() {
        let change = Exchange.Changes(bytes: [1, 2, 3], mayBeOlder: true)
        var unsettled = UnsettledChanges(maximumBytes: 6)
        let digest = Exchange.Findings(digest: "d")
        _ = unsettled.adopting(.init(changes: [change, change]))
        unsettled.polled()
        expectNoDifference(unsettled.adopting(digest), [])
        _ = unsettled.adopting(.init(changes: [change, change]))
        expectNoDifference(unsettled.adopting(digest).count, 2)
        _ = unsettled.adopting(.init(changes: [change, change, change]))
        expectNoDifference(unsettled.adopting(digest), [])
    }

    // MARK: Digests

    @Test func aDigestIsThatOfTheVersionsInTheirOrder() {
        let state = polled([Row(id: 1), Row(id: 2)])
        #expect(state.meets(polled([Row(id: 1), Row(id: 2)]).digest))
        for other in [[Row(id: 2), Row(id: 1)], [Row(id: 1)], [Row(id: 1), Row(id: 2, modId: 1)], []] {
            #expect(!state.meets(polled(other).digest))
        }
    }

    @Test func theOrderCountsOnlyIfAllCanBeDecoded() throws {
        let failure = DecodingFailure(refusal: "1")
        let findings = PollFindings<FieldData>(
            order: [1, 2],
            read: [.unreadable(.init(recordId: 1, modId: 0, failure: failure)), .record(Row(id: 2).record)],
            strategy: strategy
        )
        let state = next(State(), findings, gone: [:])
        #expect(state.meets(polled([Row(id: 1), Row(id: 2)]).digest))
        #expect(polled([Row(id: 2), Row(id: 1)]).meets(state.digest))
        #expect(!state.meets(polled([Row(id: 1, modId: 1), Row(id: 2)]).digest))
    }
}
