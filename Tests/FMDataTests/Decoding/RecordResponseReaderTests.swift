import Foundation
import Testing

@testable import FMData

/// The whole answer at once.
func read<R: Decodable, P: Decodable>(
    _ json: String,
    as record: DataAPI.Record<R, P>.Type = DataAPI.Record<FieldData, [String: [FieldData]]>.self,
    options: DecodingOptions = DecodingOptions()
) throws -> (records: [DataAPI.Record<R, P>], envelope: RecordResponseEnvelope) {
    try read(Array(json.utf8), as: record, options: options)
}

func read<R: Decodable, P: Decodable>(
    _ json: [UInt8],
    as record: DataAPI.Record<R, P>.Type = DataAPI.Record<FieldData, [String: [FieldData]]>.self,
    options: DecodingOptions = DecodingOptions(),
    chunk: Int = .max
) throws -> (records: [DataAPI.Record<R, P>], envelope: RecordResponseEnvelope) {
    var reader = RecordResponseReader<R, P>(options: options)
    var records: [DataAPI.Record<R, P>] = []
    var rest = json[...]
    while !rest.isEmpty {
        rest.prefix(chunk).withUnsafeBytes { reader.feed($0) }
        rest = rest.dropFirst(chunk)
        while let record = try reader.nextRecord() { records.append(record) }
    }
    return (records, try reader.finish())
}

@Suite struct RecordResponseReaderTests {
    struct Person: Decodable, Equatable {
        var name: String
        var age: Int?
        var city: String

        enum CodingKeys: String, CodingKey {
            case name = "Name", age = "Age", city = "Address::City"
        }
    }

    struct Portals: Decodable, Equatable {
        struct Phone: DataAPIPortalRecord, Equatable {
            var recordId: Int
            var modId: Int
            var number: String

            enum CodingKeys: String, CodingKey {
                case recordId, modId, number = "Phones::Number"
            }
        }

        var phones: [Phone]
        var notes: [Phone]

        enum CodingKeys: String, CodingKey {
            case phones = "Phones", notes = "Notes"
        }
    }

    static let answer = """
        {"response":{"scriptResult":"done","scriptError":"0","dataInfo":{"database":"Harbor","layout":"People",
        "table":"People","totalRecordCount":12,"foundCount":3,"returnedCount":2},"data":[
        {"fieldData":{"Name":"Ada \\u00e9","Age":36,"Address::City":"London"},"portalData":{"Phones":[
        {"recordId":"7","Phones::Number":"555","modId":"2"}]},"recordId":"1","modId":"4",
        "portalDataInfo":[{"database":"Harbor","table":"Phones","foundCount":1,"returnedCount":1}]},
        {"fieldData":{"Name":"Bob","Age":"","Address::City":5},"portalData":{},"recordId":"2","modId":"0"}]},
        "messages":[{"code":"0","message":"OK"}]}
        """

    @Test func readsRecordsAndEnvelope() throws {
        let (records, envelope) = try read(Self.answer, as: DataAPI.Record<Person, Portals>.self)
        #expect(
            records.map(\.fieldData) == [
                Person(name: "Ada é", age: 36, city: "London"), Person(name: "Bob", age: nil, city: "5"),
            ]
        )
        #expect(records.map(\.portalData?.phones) == [[.init(recordId: 7, modId: 2, number: "555")], []])
        #expect(records.map(\.recordId) == [1, 2])
        #expect(records[0].portalDataInfo?.first?.foundCount == 1)
        #expect(envelope.messages == [Message(code: "0", message: "OK")])
        #expect(envelope.dataInfo.foundCount == 3)
        #expect(envelope.scriptResponse == DataAPI.ScriptResponse(scriptResult: "done", scriptError: "0"))
        #expect(envelope.recordCount == 2)
    }

    @Test func everySplitGivesTheSame() throws {
        let bytes = Array(Self.answer.utf8)
        let whole = try read(bytes, as: DataAPI.Record<Person, Portals>.self)
        for chunk in 1...bytes.count {
            let parts = try read(bytes, as: DataAPI.Record<Person, Portals>.self, chunk: chunk)
            #expect(parts.records == whole.records)
            #expect(parts.envelope == whole.envelope)
        }
    }

    @Test func refusalHasMessagesAndNoRecords() throws {
        let (records, envelope) = try read(
            #"{"messages":[{"code":401,"message":"No records match the request"}],"response":{}}"#
        )
        #expect(records.isEmpty)
        #expect(envelope.messages == [Message(code: "401", message: "No records match the request")])
        #expect(!envelope.dataInfo.isReported)
    }
}
