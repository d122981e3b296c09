import CustomDump
import Foundation
import Testing

@testable import FMData

/// Real answers, damaged in every way: nothing traps, nothing is taken for whole that is not.
@Suite struct CaptureRobustnessTests {
    typealias Response = DataAPI.RecordResponse<FieldData, [String: [FieldData]]>

    static let answers = [
        "record-get/one-record-two-portals-2025", "record-get/fms18-list-portaldatainfo",
        "record-find/fms17-two-records",
        "record-find/fms17-two-portals-large-number", "record-find/datainfo-numbers", "errors/two-messages",
        "errors/952-invalid-token",
    ]

    @Test(arguments: answers)
    func everyPrefix(_ name: String) throws {
        let whole = try enveloped(name)
        let end = whole.lastIndex { $0 == UInt8(ascii: "}") } ?? 0
        for length in 0...end {
            var reader = RecordResponseReader<FieldData, [String: [FieldData]]>()
            whole.prefix(length).withUnsafeBytes { reader.feed($0) }
            #expect(throws: DecodingFailure.self, "\(length) bytes") {
                while try reader.nextRecord() != nil {}
                _ = try reader.finish()
            }
        }
    }

    @Test(arguments: answers)
    func everySplit(_ name: String) throws {
        let bytes = try enveloped(name)
        let whole = try read(bytes)
        for position in 0...bytes.count {
            var reader = RecordResponseReader<FieldData, [String: [FieldData]]>()
            var records: [DataAPI.Record<FieldData, [String: [FieldData]]>] = []
            for part in [bytes[..<position], bytes[position...]] {
                part.withUnsafeBytes { reader.feed($0) }
                try reader.nextRecords(appendTo: &records)
            }
            expectNoDifference(records, whole.records)
            expectNoDifference(try reader.finish(), whole.envelope)
        }
    }

    /// Every byte replaced, by bytes that mean something in JSON and by some that mean nothing: what is JSON then is taken,
    /// and nothing else.
    @Test(arguments: ["record-find/fms17-one-record", "record-get/fms17-one-record", "errors/two-messages"])
    func everyCorruption(_ name: String) throws {
        let whole = try Capture.bytes(name)
        let replacements = [
            0x00, 0x0A, 0x20, 0x22, 0x2C, 0x2D, 0x30, 0x3A, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xC3, 0xFF,
        ]
        for position in whole.indices {
            for replacement in replacements.map(UInt8.init) where whole[position] != replacement {
                var damaged = whole
                damaged[position] = replacement
                if isTaken(damaged) != ReferenceJSON.accepts(damaged) { Issue.record("\(replacement) at \(position)") }
                _ = try? read(damaged)
            }
        }
    }

    /// Bytes left out and bytes put in.
    @Test(arguments: ["record-find/fms17-one-record", "errors/two-messages"])
    func everyOmissionAndInsertion(_ name: String) throws {
        let whole = try Capture.bytes(name)
        for position in whole.indices {
            var shorter = whole
            shorter.remove(at: position)
            var longer = whole
            longer.insert(whole[position], at: position)
            for damaged in [shorter, longer] {
                if isTaken(damaged) != ReferenceJSON.accepts(damaged) { Issue.record("\(position)") }
            }
        }
    }

    @Test func everyCaptureDecodesAsFoundationDecodesIt() throws {
        for group in ["record-get", "record-find", "record-create", "errors", "session", "script-run", "databases"] {
            for name in try Capture.names(in: group) {
                let bytes = try Capture.bytes(name)
                let ours = try FMDecoder().decode(Anything.self, from: bytes)
                let withoutMark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
                #expect(try JSONDecoder().decode(Anything.self, from: Data(withoutMark)) == ours, "\(name)")
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

    private func isTaken(_ bytes: [UInt8]) -> Bool {
        let document = JSONDocument()
        bytes.withUnsafeBytes { document.append($0) }
        return (try? document.readWhole()) != nil
    }

    /// Some captures are what a client printed after it took off the envelope.
    private func enveloped(_ name: String) throws -> [UInt8] {
        let bytes = try Capture.bytes(name)
        if (try? read(bytes)) != nil { return bytes }
        return Array("{\"response\":".utf8) + bytes + Array(",\"messages\":[{\"code\":\"0\"}]}".utf8)
    }
}

/// Any JSON value.
enum Anything: Decodable, Equatable {
    case null, bool(Bool), number(Double), text(String), list([Anything]), object([String: Anything])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([Anything].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Anything].self))
        }
    }
}
