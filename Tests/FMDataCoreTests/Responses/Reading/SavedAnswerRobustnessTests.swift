import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// Answers in the spelling of real servers, damaged in every way: the reader does not trap, and accepts nothing that is
/// incomplete.
///
/// All of ``SavedAnswer/own`` go through the reader here: cut off at every byte, split at every byte, with bytes
/// replaced, removed and repeated. The work for one answer grows with the square of its length. For answers longer than
/// ``Coverage/wholeLength`` bytes the places are therefore spread evenly, including the first and the last. With
/// `FMDATA_EXHAUSTIVE=1` in the environment every place is tried, with every byte; this takes minutes.
@Suite struct SavedAnswerRobustnessTests {
    typealias Response = DataAPI.RecordResponse<FieldData, [String: [FieldData]]>

    static let answers = SavedAnswer.own.filter(\.isJSON)

    static let recordAnswers = [
        "record-get/one-record-two-portals-2025", "record-get/fms18-list-portaldatainfo",
        "record-find/fms17-two-records",
        "record-find/fms17-two-portals-large-number", "record-find/datainfo-numbers", "errors/two-messages",
        "errors/952-invalid-token",
    ]

    /// Which places of an answer are tried, and which bytes are put there.
    enum Coverage {
        /// Up to this length all places are tried.
        static let wholeLength = Effort.of(600, brief: 60)

        private static let isExhaustive = ProcessInfo.processInfo.environment["FMDATA_EXHAUSTIVE"] == "1"
        /// Bytes that have a meaning in JSON and bytes that have none.
        private static let samples: [UInt8] = [
            0x00, 0x22, 0x30, 0x5B, 0x0A, 0x2C, 0x3A, 0x5D, 0x20, 0x2D, 0x7B, 0xC3, 0x5C, 0x7D, 0x80, 0xFF,
        ]

        static func places(_ count: Int) -> Set<Int> {
            let step = isExhaustive ? 1 : max(1, count * count / (wholeLength * wholeLength))
            return Set(stride(from: 0, to: count, by: step)).union([0, max(0, count - 1)])
        }

        /// Four at each place, alternating between the places.
        static func replacements(at place: Int) -> [UInt8] {
            isExhaustive ? Array(.min ... .max) : Array(samples[(place % 4) * 4..<(place % 4 + 1) * 4])
        }
    }

    @Test func thereAreAnswers() {
        #expect(Self.answers.count >= 60)
    }

    // MARK: The reader

    @Test(arguments: answers)
    func cutOff(_ answer: SavedAnswer) throws {
        let whole = try answer.bytes()
        let end = try #require(whole.lastIndex { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "]") })
        for length in Coverage.places(end + 1) where JSONDocument.takes(whole.prefix(length)) {
            Issue.record("\(length) bytes are taken for whole")
        }
        #expect(JSONDocument.takes(whole[...]))
    }

    /// The tape has the same entries wherever the text is split.
    @Test(arguments: answers)
    func split(_ answer: SavedAnswer) throws {
        let bytes = try answer.bytes()
        let whole = try JSONDocument.tape(of: bytes, splitAt: bytes.count)
        for place in Coverage.places(bytes.count) where try JSONDocument.tape(of: bytes, splitAt: place) != whole {
            Issue.record("split at \(place)")
        }
    }

    /// Replaced bytes: the reader accepts the result only if it is still JSON.
    @Test(.thorough, arguments: answers)
    func corrupted(_ answer: SavedAnswer) throws {
        let whole = try answer.bytes()
        for place in Coverage.places(whole.count) {
            var damaged = whole
            for byte in Coverage.replacements(at: place) {
                damaged[place] = byte
                check(damaged, "\(byte) at \(place)")
            }
        }
    }

    /// Removed and inserted bytes.
    @Test(arguments: answers)
    func shortenedAndLengthened(_ answer: SavedAnswer) throws {
        let whole = try answer.bytes()
        for place in Coverage.places(whole.count) {
            var shorter = whole
            shorter.remove(at: place)
            var longer = whole
            longer.insert(whole[place], at: place)
            for damaged in [shorter, longer] { check(damaged, "at \(place)") }
        }
    }

    /// The reader accepts the bytes exactly if the second parser does (after a byte order mark, which the reader
    /// skips). An accepted text is then decoded as an answer or refused, without a trap.
    private func check(_ damaged: [UInt8], _ what: @autoclosure () -> String) {
        let isTaken = JSONDocument.takes(damaged[...])
        let hasMark = damaged.starts(with: [0xEF, 0xBB, 0xBF])
        let isJSON = ReferenceJSON.accepts(hasMark ? Array(damaged.dropFirst(3)) : damaged)
        if isTaken != isJSON { Issue.record("\(what())") }
        if isTaken { _ = try? read(damaged) }
    }

    // MARK: Records

    /// The same at the level of records: an answer that is cut off is never accepted, and split answers give the same
    /// records.
    @Test(arguments: recordAnswers)
    func recordsCutOffAndSplit(_ name: String) throws {
        let bytes = try enveloped(name)
        let end = bytes.lastIndex { $0 == UInt8(ascii: "}") } ?? 0
        let whole = try read(bytes)
        for place in Coverage.places(bytes.count) {
            var reader = RecordResponseReader<FieldData, [String: [FieldData]]>()
            var records: [DataAPI.Record<FieldData, [String: [FieldData]]>] = []
            bytes[..<place].withUnsafeBytes { reader.feed($0) }
            try reader.nextRecords(appendTo: &records)
            if place <= end {
                var cutOff = RecordResponseReader<FieldData, [String: [FieldData]]>()
                bytes[..<place].withUnsafeBytes { cutOff.feed($0) }
                #expect(throws: DecodingFailure.self, "\(place) bytes") { try cutOff.finish() }
            }
            bytes[place...].withUnsafeBytes { reader.feed($0) }
            try reader.nextRecords(appendTo: &records)
            expectNoDifference(records, whole.records)
            expectNoDifference(try reader.finish(), whole.envelope)
        }
    }

    /// Damaged records are decoded or refused with a `DecodingFailure`.
    @Test(arguments: recordAnswers)
    func recordsCorrupted(_ name: String) throws {
        let whole = try enveloped(name)
        let records = try read(whole).records.count
        for place in Coverage.places(whole.count) {
            var damaged = whole
            for byte in [0x22, 0x30, 0x5C, 0xFF] as [UInt8] {
                damaged[place] = byte
                do {
                    #expect(try read(damaged).records.count <= records)
                } catch {
                    #expect(error is DecodingFailure, "\(error)")
                }
            }
        }
    }

    @Test(.thorough, arguments: SavedAnswer.everywhere.filter(\.isJSON))
    func everyAnswerDecodesAsFoundationDecodesIt(_ answer: SavedAnswer) throws {
        let bytes = try answer.bytes()
        let withoutMark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        let ours = try FMDecoder().decode(AnyJSON.self, from: bytes)
        expectNoDifference(ours, try JSONDecoder().decode(AnyJSON.self, from: Data(withoutMark)))
    }

    @Test func aPageWithRepeatingFields() throws {
        struct Plate: Decodable {
            var object: String
            var exposure: Int?
            var reading: [Int?]
            var sessionReading: [Int]?
            var night: FMDate?
            var shutterOpened: FMTimestamp?

            enum CodingKeys: String, CodingKey {
                case object = "sky_object"
                case exposure, reading
                case sessionReading = "session_reading"
                case night
                case shutterOpened = "shutter_opened"
            }
        }
        let page = try pageOfAHundred(SavedAnswer.named("record-get/fms18-prerelease-repeating-fields"))
        let records = try read(page, as: DataAPI.Record<Plate, [String: [FieldData]]>.self, chunk: 1_000).records
        #expect(records.count == 100)
        #expect(records[0].fieldData.object == "Veil of Orm")
        #expect(records[0].fieldData.exposure == 71604)
        #expect(records[0].fieldData.reading == [4, 5, 6, nil, 8])
        #expect(records[0].fieldData.sessionReading == [])
        #expect(records[0].fieldData.night?.description == "2028-11-23")
        #expect(records[0].fieldData.shutterOpened?.description == "2028-11-23T03:17:52")
        #expect(records[0].portalData?["plate_STAR"]?.first?["plate_STAR::star"] == "Dorrin")
        #expect(records[97].fieldData.object == "Broken Ring")
        #expect(records[97].fieldData.exposure == nil)
        #expect(records[97].portalData?["plate_STAR"]?.last?["plate_STAR::star"] == "Ōkibi")
    }

    /// The four records of an answer, repeated 25 times.
    private func pageOfAHundred(_ answer: SavedAnswer) throws -> [UInt8] {
        let text = String(decoding: try answer.bytes(), as: UTF8.self)
        let start = try #require(text.range(of: "\"data\": ["))
        let end = try #require(text.range(of: "]\n  },\n  \"messages\""))
        let records = text[start.upperBound..<end.lowerBound]
        let page = text[..<start.upperBound] + Array(repeating: records, count: 25).joined(separator: ",")
        return Array((page + text[end.lowerBound...]).utf8)
    }

    /// Some saved answers lack the envelope, since a client printed them without it. This adds it.
    private func enveloped(_ name: String) throws -> [UInt8] {
        let bytes = try SavedAnswer.named(name).bytes()
        if (try? read(bytes)) != nil { return bytes }
        return Array("{\"response\":".utf8) + bytes + Array(",\"messages\":[{\"code\":\"0\"}]}".utf8)
    }
}
