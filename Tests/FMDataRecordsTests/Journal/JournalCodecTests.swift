import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The lines of a journal and the state that they add up to, also if the journal was cut off or damaged.
@Suite struct JournalCodecTests {
    private static let header = JournalHeader(
        salt: Array(0..<16),
        origin: "https://fms.example.com:443",
        database: "Fleet %1",
        layout: "Øst\nVest"
    )
    private static func digest(_ number: Int) -> RowDigest {
        RowDigest(salt: header.salt, write: "create", fields: [.init(name: "Number", value: .literal("\(number)"))])
    }

    private static let entries: [JournalEntry] = [
        .header(header),
        .list(digest(9), [.init(recordId: 17, modId: 3), .init(recordId: 18, modId: 0)]),
        .attempt(row: 0, digest(0), key: "a b", over: nil),
        .attempt(row: 1, digest(1), key: nil, over: nil),
        .attempt(row: 2, digest(2), key: "ü\r\n=", field: .named("Key 1"), over: .init(recordId: 17, modId: 3)),
        .outcome(row: 1, nil, .init(kind: .created, recordId: 58, modId: nil)),
        .outcome(
            row: 4,
            digest(4),
            .init(kind: .failed, errorCode: "fileMaker", fileMakerCode: -1, fields: ["a b", ""])
        ),
        .withdrawn(row: 0),
        .closed,
        .resumed,
        .attempt(row: 0, digest(0), key: "", over: nil),
        .job(key: "j 1", rows: [.init(row: 5, digest: digest(5)), .init(row: 6, digest: digest(6))]),
        .outcome(row: 2, nil, .init(kind: .updated, recordId: 17, modId: 4)),
        .outcome(row: 5, nil, .init(kind: .deleted, wasThere: false)),
        .outcome(row: 6, nil, .init(kind: .unchanged, recordId: 3)),
    ]

    private static let bytes = entries.enumerated().flatMap { Array(($1.line($0) + "\n").utf8) }

    @Test func linesReadBackAsTheyWereWritten() throws {
        for (number, entry) in Self.entries.enumerated() {
            let line = entry.line(number)
            #expect(!line.contains("\n"))
            expectNoDifference(try JournalEntry(line: Array(line.utf8)[...], number: number), entry)
        }
    }

    @Test func anEmptyWordAtTheEndIsOne() throws {
        var header = Self.header
        header.layout = ""
        let line = JournalEntry.header(header).line(0)
        expectNoDifference(try JournalEntry(line: Array(line.utf8)[...], number: 0), .header(header))
        let body = Array("0 withdrawn 3 ".utf8)
        let more = body + " ".utf8 + CRC32.hex(of: body).utf8
        #expect(throws: DataAPI.WriteJournalError.Reason.damaged) { try JournalEntry(line: more[...], number: 0) }
    }

    @Test func linesAddUp() throws {
        let reading = try JournalReading(Self.bytes)
        expectNoDifference(reading.cutBytes, 0)
        let state = try #require(reading.state)
        expectNoDifference(state.header, Self.header)
        expectNoDifference(state.lineCount, Self.entries.count)
        expectNoDifference(
            state.list,
            .init(digest: Self.digest(9), records: [.init(recordId: 17, modId: 3), .init(recordId: 18, modId: 0)])
        )
        expectNoDifference(
            state.rows,
            [
                0: .init(digest: Self.digest(0), key: "", phase: .open(over: nil)),
                1: .init(digest: Self.digest(1), key: nil, phase: .done(.init(kind: .created, recordId: 58))),
                2: .init(
                    digest: Self.digest(2),
                    key: "ü\r\n=",
                    field: .named("Key 1"),
                    phase: .done(.init(kind: .updated, recordId: 17, modId: 4))
                ),
                4: .init(
                    digest: Self.digest(4),
                    key: nil,
                    phase: .done(
                        .init(kind: .failed, errorCode: "fileMaker", fileMakerCode: -1, fields: ["a b", ""])
                    )
                ),
                5: .init(digest: Self.digest(5), key: "j 1", phase: .done(.init(kind: .deleted, wasThere: false))),
                6: .init(digest: Self.digest(6), key: "j 1", phase: .done(.init(kind: .unchanged, recordId: 3))),
            ]
        )
    }

    /// Every prefix of a journal has the state of its complete lines, and the number of bytes cut off is reported.
    @Test func aJournalThatWasTornAnywhere() throws {
        let ends = [0] + Self.bytes.indices.filter { Self.bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        for length in 0...Self.bytes.count {
            let reading = try JournalReading(Array(Self.bytes.prefix(length)))
            let whole = ends.last { $0 <= length } ?? 0
            expectNoDifference(reading.cutBytes, length - whole)
            let expected = try JournalReading(Array(Self.bytes.prefix(whole)))
            expectNoDifference(reading.state, expected.state)
            expectNoDifference(reading.state == nil, whole == 0)
        }
    }

    /// A changed byte is an error that names its line. The exception is the line feed at the end: without it the last
    /// line counts as cut off.
    @Test(.thorough) func aJournalThatIsDamagedAnywhere() throws {
        let whole = try JournalReading(Self.bytes)
        for place in Self.bytes.indices {
            let line = Self.bytes[..<place].count { $0 == UInt8(ascii: "\n") }
            for bit in 0..<8 {
                var damaged = Self.bytes
                damaged[place] ^= 1 << bit
                do throws(DataAPI.WriteJournalError) {
                    let reading = try JournalReading(damaged)
                    #expect(
                        place == damaged.count - 1 && reading.cutBytes > 0,
                        "byte \(place), bit \(bit) is not noticed"
                    )
                    #expect(reading.state != whole.state)
                } catch {
                    #expect(error.line == line, "byte \(place), bit \(bit): \(error)")
                    expectNoDifference(error.reason, line == 0 ? .notAJournal : .damaged)
                }
            }
        }
    }

    /// Missing, repeated and reordered lines are detected, although each of them is valid by itself.
    @Test func linesInAnotherOrderAreNoticed() throws {
        let lines = Self.entries.enumerated().map { $1.line($0) }
        for index in 1..<lines.count {
            var without = lines
            without.remove(at: index)
            if index < lines.count - 1 {
                #expect(throws: DataAPI.WriteJournalError(.damaged, line: index)) { try JournalReading(texts: without) }
            }
            var twice = lines
            twice.insert(lines[index], at: index)
            #expect(throws: DataAPI.WriteJournalError(.damaged, line: index + 1)) { try JournalReading(texts: twice) }
        }
    }

    /// Lines that are valid by themselves but cannot follow each other.
    @Test(arguments: [
        [JournalEntry.withdrawn(row: 0)],
        [.list(digest(0), []), .list(digest(0), [])],
        [.attempt(row: 0, digest(0), key: nil, over: nil), .list(digest(1), [])],
        [.header(header)],
        [.outcome(row: 0, nil, .init(kind: .created))],
        [
            .attempt(row: 0, digest(0), key: nil, over: nil), .attempt(row: 0, digest(1), key: nil, over: nil),
        ],
        [
            .attempt(row: 0, digest(0), key: nil, over: nil), .outcome(row: 0, nil, .init(kind: .created)),
            .attempt(row: 0, digest(0), key: nil, over: nil),
        ],
        [
            .attempt(row: 0, digest(0), key: nil, over: nil), .outcome(row: 0, nil, .init(kind: .created)),
            .outcome(row: 0, nil, .init(kind: .failed, errorCode: "x")),
        ],
    ])
    func whatCannotBeIsDamage(entries: [JournalEntry]) {
        let texts = ([.header(Self.header)] + entries).enumerated().map { $1.line($0) }
        #expect(throws: DataAPI.WriteJournalError(.damaged, line: texts.count - 1)) { try JournalReading(texts: texts) }
    }

    @Test func whatAJournalHoldsIsToldWithoutARun() throws {
        expectNoDifference(.init(try JournalReading([])), DataAPI.WriteJournal.Contents())
        var contents = DataAPI.WriteJournal.Contents()
        contents.host = Self.header.origin
        contents.database = Self.header.database
        contents.layout = Self.header.layout
        contents.doneRows = [1, 2, 5, 6]
        contents.failedRows = [4]
        contents.openRows = [0]
        contents.mayMissRows = true
        expectNoDifference(.init(try JournalReading(Self.bytes)), contents)
    }

    /// A journal of the first version, which did not note in which field a key is.
    @Test func aJournalOfTheFirstVersionIsRead() throws {
        func line(_ body: String) -> String { "\(body) \(CRC32.hex(of: body.utf8))" }
        let salt = Hexadecimal.text(Self.header.salt)
        let reading = try JournalReading(texts: [
            line("0 fmdata-journal 1 \(salt) o d l"), line("1 attempt 0 \(Self.digest(0).text) - =a"),
            line("2 attempt 1 \(Self.digest(1).text) 17:3 =17"),
            JournalEntry.attempt(row: 2, Self.digest(2), key: "b", field: .named("K"), over: nil).line(3),
        ])
        let state = try #require(reading.state)
        expectNoDifference((0..<3).map { state.rows[$0]?.field }, [.notSaid, .notSaid, .named("K")])
        expectNoDifference((0..<3).map { state.rows[$0]?.key }, ["a", "17", "b"])
        // In the first version a key may be a field's value or a record id.
        expectNoDifference(state.lastRowsOfLanes(), [.key("a"): 0, .key("17"): 1, .record(17): 1, .key("b"): 2])
    }

    @Test func whatWasWrittenLastIsKnownByRecordAndByKey() throws {
        let entries: [JournalEntry] = [
            .header(Self.header),
            .attempt(row: 1, Self.digest(1), key: "7", over: nil),
            .attempt(row: 5, Self.digest(5), key: "7", over: nil),
            .outcome(row: 5, nil, .init(kind: .updated, recordId: 7, modId: 1)),
            .attempt(row: 6, Self.digest(6), key: "7", over: nil),
            .outcome(row: 6, nil, .init(kind: .failed, errorCode: "fileMaker", fileMakerCode: 301)),
            .attempt(row: 7, Self.digest(7), key: "7", over: nil), .withdrawn(row: 7),
            .attempt(row: 8, Self.digest(8), key: "É7", field: .named("K"), over: nil),
            .attempt(row: 9, Self.digest(9), key: "8", over: nil),
            .outcome(row: 9, nil, .init(kind: .deleted, wasThere: true)),
        ]
        let texts = entries.enumerated().map { $1.line($0) }
        let state = try #require(try JournalReading(texts: texts).state)
        expectNoDifference(state.lastRowsOfLanes(), [.record(7): 5, .key("e7"): 8])
    }

    @Test func aKeyIsKnownByItsRowUnlessThatWasNotCarriedOut() throws {
        let entries: [JournalEntry] = [
            .header(Self.header),
            .attempt(row: 0, Self.digest(0), key: "a", field: .named("K"), over: nil),
            .attempt(row: 1, Self.digest(1), key: "b", field: .named("k"), over: nil),
            .outcome(row: 1, nil, .init(kind: .created, recordId: 7)),
            .attempt(row: 2, Self.digest(2), key: "c", field: .named("K"), over: nil), .withdrawn(row: 2),
            .attempt(row: 3, Self.digest(3), key: "d", field: .named("K"), over: nil),
            .outcome(row: 3, nil, .init(kind: .failed, errorCode: "fileMaker", fileMakerCode: 504)),
            .attempt(row: 4, Self.digest(4), key: "e", field: .named("L"), over: nil),
            .attempt(row: 5, Self.digest(5), key: "7", over: nil),
        ]
        let texts = entries.enumerated().map { $1.line($0) }
        let state = try #require(try JournalReading(texts: texts).state)
        expectNoDifference(state.rowsOfKeys(in: "K"), ["a": 0, "b": 1])
    }

    @Test func aLaterVersionIsToldFromDamage() {
        let line = Self.entries[0].line(0).split(separator: " ").dropLast().joined(separator: " ")
            .replacingOccurrences(of: "journal 3 ", with: "journal 4 ")
        let text = "\(line) \(CRC32.hex(of: line.utf8))"
        #expect(throws: DataAPI.WriteJournalError(.otherVersion, line: 0)) { try JournalReading(texts: [text]) }
    }

    @Test(arguments: UInt64(1)...300)
    func randomBytesAreNoJournal(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bytes = (0..<Int.random(in: 1..<400, using: &random)).map { _ in
            UInt8.random(in: .min ... .max, using: &random)
        }
        // Half of the cases append them to a valid journal.
        if seed.isMultiple(of: 2) { bytes = Self.bytes + bytes }
        do throws(DataAPI.WriteJournalError) {
            let reading = try JournalReading(bytes)
            let tail = bytes.reversed().prefix { $0 != UInt8(ascii: "\n") }.count
            expectNoDifference(reading.cutBytes, tail)
            let state = seed.isMultiple(of: 2) ? try JournalReading(Self.bytes).state : nil
            expectNoDifference(reading.state, state)
        } catch {
            #expect(error.reason == .damaged || error.reason == .notAJournal)
        }
    }

    /// The check value that every description of this checksum gives.
    @Test func theChecksumIsTheOneOfZip() {
        expectNoDifference(CRC32.hex(of: "123456789".utf8), "cbf43926")
    }

    // MARK: Digests

    @Test func aDigestTellsRowsApartAndNothingElse() {
        func digest(_ write: String, _ fields: [(String, WireValue)], salt: [UInt8] = Self.header.salt) -> RowDigest {
            RowDigest(salt: salt, write: write, fields: fields.map { .init(name: $0.0, value: $0.1) })
        }
        let one = digest("create", [("A", .text("1")), ("B", .literal("2"))])
        expectNoDifference(digest("create", [("B", .literal("2")), ("A", .text("1"))]), one)
        let others = [
            digest("edit 1 -", [("A", .text("1")), ("B", .literal("2"))]),
            digest("create", [("A", .literal("1")), ("B", .literal("2"))]),
            digest("create", [("A", .text("1"))]),
            digest("create", [("A", .text("1\",\"B\":2"))]),
            digest("create", [("A", .text("1")), ("B", .literal("2"))], salt: [0]),
        ]
        expectNoDifference(Set(others + [one]).count, others.count + 1)
        expectNoDifference(RowDigest(text: Array(one.text.utf8)[...]), one)
        expectNoDifference(one.text.count, 32)
    }

    @Test func aJournalHoldsNoValueButKeys() {
        let text = String(decoding: Self.bytes, as: UTF8.self)
        #expect(!text.contains("Number"))
    }
}
