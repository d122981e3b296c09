import CustomDump
import FMData
import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// Cursors survive a restart, and data that is no cursor is an error that says what is wrong.
@Suite struct LiveCursorTests {
    private let found = DataAPI.Server(host: "localhost").addDatabase("D").addLayout("L").of(FieldData.self)
        .find { $0("City") == "Calgary" }

    private func cursor(_ versions: [(id: Int, modId: Int)]) -> DataAPI.LiveCursor {
        let records = versions.map {
            DataAPI.TypedLayout<FieldData>.Record(fieldData: [:], recordId: $0.id, modId: $0.modId)
        }
        let findings = PollFindings<FieldData>(
            order: records.map(\.recordId),
            read: records.map { .record($0) },
            strategy: RereadPolling(maximum: .max)
        )
        let state = LiveState<FieldData>().next(
            findings,
            gone: [:],
            overtaken: [],
            ChangePolicy(areEqual: { _, _ in true }),
            origin: .poll,
            asOf: .uptimeNanoseconds(0)
        )
        return DataAPI.LiveCursor(state.state, of: found)
    }

    @Test func itComesBackAsItWas() throws {
        let cursor = cursor([(3, 0), (1, 7), (4_000_000_000, 300), (17, 128)])
        let copy = try JSONDecoder().decode(DataAPI.LiveCursor.self, from: JSONEncoder().encode(cursor))
        expectNoDifference(copy, cursor)
        expectNoDifference(copy.count, 4)
    }

    @Test func aRecordTakesThreeToFourBytes() throws {
        let cursor = cursor((1...10_000).map { (3 * $0, $0 % 100) })
        let bytes = try JSONEncoder().encode(cursor).count
        #expect(bytes <= 40_000)
    }

    @Test func itHoldsNothingOfWhatIsSearchedFor() throws {
        let text = String(decoding: try JSONEncoder().encode(cursor([(1, 1)])), as: UTF8.self)
        #expect(!text.contains("Calgary"))
    }

    /// Programs have stored cursors and marks that earlier versions have written.
    @Test func whatEarlierVersionsWroteIsRead() throws {
        let cursor = #"{"format":2,"query":"2a","records":"rAKsAg==","check":"9978fc786b46fe4","sample":[]}"#
        let mark = #"{"format":1,"query":"2a","memory":{"unseen":0},"sample":[]}"#
        expectNoDifference(try JSONDecoder().decode(DataAPI.LiveCursor.self, from: Data(cursor.utf8)).count, 1)
        expectNoDifference(try JSONDecoder().decode(DataAPI.CopyMark.self, from: Data(mark.utf8)).query, 42)
    }

    @Test func aDamagedMarkIsAnError() throws {
        let sample = cursor([(300, 300)]).sample
        let memory = PollMemory(stamp: "2026-05-04T00:00:00", unseen: 2, serial: 7, related: 9)
        let mark = DataAPI.CopyMark(query: 42, memory: memory, sample: sample)
        let bytes = try JSONEncoder().encode(mark)
        expectNoDifference(try JSONDecoder().decode(DataAPI.CopyMark.self, from: bytes), mark)
        let text = String(decoding: bytes, as: UTF8.self)
        for (part, damage) in [
            (#""format":2"#, #""format":1"#), (#""format":2"#, #""format":3"#), (#""query":"2a""#, #""query":"2b""#),
            (#""query":"2a""#, #""query":"2g""#), ("2026-05-04", "2026-06-04"), (#""unseen":2"#, #""unseen":3"#),
            (#""serial":7"#, #""serial":8"#), (#""related":9"#, #""related":8"#), (#""modId":300"#, #""modId":200"#),
            (#""check":""#, #""check":"1"#), (#""check""#, #""chack""#),
        ] {
            let damaged = text.replacingOccurrences(of: part, with: damage)
            #expect(damaged != text)
            #expect(throws: DecodingError.self, "\(damaged)") {
                try JSONDecoder().decode(DataAPI.CopyMark.self, from: Data(damaged.utf8))
            }
        }
    }

    @Test func whatIsDamagedIsAnErrorAndNoTrap() throws {
        let text = String(decoding: try JSONEncoder().encode(cursor([(300, 300)])), as: UTF8.self)
        for damaged in [
            text.replacingOccurrences(of: #""format":3"#, with: #""format":4"#),
            text.replacingOccurrences(of: #""format":3"#, with: #""format":2"#),
            text.replacingOccurrences(of: #""recordId":300"#, with: #""recordId":301"#),
            text.replacingOccurrences(of: #""modId":300"#, with: #""modId":301"#),
            text.replacingOccurrences(of: #""fields":["#, with: #""fields":[1"#),
            text.replacingOccurrences(of: #""records":""#, with: #""records":"/"#),
            text.replacingOccurrences(of: #""query":""#, with: #""query":"1"#),
            #"{"format":1,"query":"0","records":"","check":"0"}"#,
            text.replacingOccurrences(of: #""sample""#, with: #""contents":"AAA=","sample""#),
            "{}",
        ] {
            #expect(throws: DecodingError.self, "\(damaged)") {
                try JSONDecoder().decode(DataAPI.LiveCursor.self, from: Data(damaged.utf8))
            }
        }
    }

    @Test func theFingerprintOfAQueryIsTheSameInEachRun() {
        expectNoDifference(found.fingerprint, found.fingerprint)
        #expect(found.fingerprint != found.sorted(by: "City").fingerprint)
        #expect(found.fingerprint != found.layout.find { $0("City") == "Kiel" }.fingerprint)
        // A constant, since one test cannot run in two processes: FNV-1a, computed elsewhere, of
        // "https://localhost\u{2}D\u{2}L\u{2}City\u{0}==Calgary".
        expectNoDifference(String(found.fingerprint, radix: 16), "bd35e18a175cefdb")
    }
}
