import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMData

/// Real answers, damaged in every way: nothing traps, nothing is taken for whole that is not.
///
/// All captures go through the reader here, but the one of half a megabyte: cut off at every byte, split at every byte, with
/// bytes replaced, left out and repeated. What is read for one capture grows with the square of its length, so of one longer
/// than ``Coverage/wholeLength`` bytes the places are spread evenly over it, the first and last among them.
/// With `FMDATA_EXHAUSTIVE=1` in the environment no place is left out, and every byte is tried at each, which takes minutes.
@Suite struct CaptureRobustnessTests {
    typealias Response = DataAPI.RecordResponse<FieldData, [String: [FieldData]]>

    static let captures = (try? Capture.all().filter { try Capture.bytes($0).count < 100_000 }) ?? []

    static let answers = [
        "record-get/one-record-two-portals-2025", "record-get/fms18-list-portaldatainfo",
        "record-find/fms17-two-records",
        "record-find/fms17-two-portals-large-number", "record-find/datainfo-numbers", "errors/two-messages",
        "errors/952-invalid-token",
    ]

    /// Which places of a capture are tried, and what is put there.
    enum Coverage {
        /// Up to this length all of them.
        static let wholeLength = Effort.of(600, brief: 150)

        private static let isExhaustive = ProcessInfo.processInfo.environment["FMDATA_EXHAUSTIVE"] == "1"
        /// Such that mean something in JSON and such that mean nothing.
        private static let samples: [UInt8] = [
            0x00, 0x22, 0x30, 0x5B, 0x0A, 0x2C, 0x3A, 0x5D, 0x20, 0x2D, 0x7B, 0xC3, 0x5C, 0x7D, 0x80, 0xFF,
        ]

        static func places(_ count: Int) -> Set<Int> {
            let step = isExhaustive ? 1 : max(1, count * count / (wholeLength * wholeLength))
            return Set(stride(from: 0, to: count, by: step)).union([0, max(0, count - 1)])
        }

        /// Four at each place, in turn.
        static func replacements(at place: Int) -> [UInt8] {
            isExhaustive ? Array(.min ... .max) : Array(samples[(place % 4) * 4..<(place % 4 + 1) * 4])
        }
    }

    @Test func thereAreCaptures() {
        #expect(Self.captures.count >= 60)
    }

    // MARK: The reader

    @Test(arguments: captures)
    func cutOff(_ name: String) throws {
        let whole = try Capture.bytes(name)
        let end = try #require(whole.lastIndex { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "]") })
        for length in Coverage.places(end + 1) where JSONDocument.takes(whole.prefix(length)) {
            Issue.record("\(length) bytes are taken for whole")
        }
        #expect(JSONDocument.takes(whole[...]))
    }

    /// The structure that is read is the same, entry by entry.
    @Test(arguments: captures)
    func split(_ name: String) throws {
        let bytes = try Capture.bytes(name)
        let whole = try JSONDocument.tape(of: bytes, splitAt: bytes.count)
        for place in Coverage.places(bytes.count) where try JSONDocument.tape(of: bytes, splitAt: place) != whole {
            Issue.record("split at \(place)")
        }
    }

    /// Bytes replaced: what is JSON then is taken, and nothing else.
    @Test(arguments: captures)
    func corrupted(_ name: String) throws {
        let whole = try Capture.bytes(name)
        for place in Coverage.places(whole.count) {
            var damaged = whole
            for byte in Coverage.replacements(at: place) {
                damaged[place] = byte
                check(damaged, "\(byte) at \(place)")
            }
        }
    }

    /// Bytes left out and bytes put in.
    @Test(arguments: captures)
    func shortenedAndLengthened(_ name: String) throws {
        let whole = try Capture.bytes(name)
        for place in Coverage.places(whole.count) {
            var shorter = whole
            shorter.remove(at: place)
            var longer = whole
            longer.insert(whole[place], at: place)
            for damaged in [shorter, longer] { check(damaged, "at \(place)") }
        }
    }

    /// Taken for JSON exactly when the second opinion says so, after a byte order mark, which the reader skips; and as an
    /// answer decoded or refused, and nothing else happens.
    private func check(_ damaged: [UInt8], _ what: @autoclosure () -> String) {
        let isTaken = JSONDocument.takes(damaged[...])
        let hasMark = damaged.starts(with: [0xEF, 0xBB, 0xBF])
        let isJSON = ReferenceJSON.accepts(hasMark ? Array(damaged.dropFirst(3)) : damaged)
        if isTaken != isJSON { Issue.record("\(what())") }
        if isTaken { _ = try? read(damaged) }
    }

    // MARK: Records

    /// The same one level up: no answer of a server that is cut off is taken for whole, and split ones are the same.
    @Test(arguments: answers)
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

    /// Damaged records are decoded or refused, and nothing else happens.
    @Test(arguments: answers)
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

    @Test func everyCaptureDecodesAsFoundationDecodesIt() throws {
        for group in ["record-get", "record-find", "record-create", "errors", "session", "script-run", "databases"] {
            for name in try Capture.names(in: group) {
                let bytes = try Capture.bytes(name)
                let ours = try FMDecoder().decode(AnyJSON.self, from: bytes)
                let withoutMark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
                #expect(try JSONDecoder().decode(AnyJSON.self, from: Data(withoutMark)) == ours, "\(name)")
            }
        }
    }

    @Test func aPageWithRepeatingFields() throws {
        let bytes = try Capture.bytes("record-get/fms18-prerelease-repeating-fields-100-records")
        struct Fruit: Decodable {
            var fruit: String
            var number: Int?
            var repetitions: [Int?]
            var dense: [Int]?
            var date: FMDate?
            var timestamp: FMTimestamp?

            enum CodingKeys: String, CodingKey {
                case fruit, number = "number_field", repetitions = "field_number_repeat"
                case dense = "global_field_number_repeat", date = "date_field", timestamp = "timestamp_field"
            }
        }
        let records = try read(bytes, as: DataAPI.Record<Fruit, [String: [FieldData]]>.self, chunk: 1_000).records
        #expect(records.count == 100)
        #expect(records[0].fieldData.fruit == "Lychee")
        #expect(records[0].fieldData.repetitions == [1, 2, 3, nil, 5])
        #expect(records[0].fieldData.dense == [])
        #expect(records[0].fieldData.timestamp?.description == "2016-09-07T10:22:40")
        #expect(records[0].portalData?["fruit_CAKE"]?.first?["fruit_CAKE::cake"] == "Angel food cake")
    }

    /// Some captures are what a client printed after it took off the envelope.
    private func enveloped(_ name: String) throws -> [UInt8] {
        let bytes = try Capture.bytes(name)
        if (try? read(bytes)) != nil { return bytes }
        return Array("{\"response\":".utf8) + bytes + Array(",\"messages\":[{\"code\":\"0\"}]}".utf8)
    }
}
