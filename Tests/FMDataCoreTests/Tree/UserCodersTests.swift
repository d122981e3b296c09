import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// A `JSONEncoder` and a `JSONDecoder` of the user's are used for records; the library codes everything around them
/// itself.
@Suite(.timeLimit(.minutes(15))) struct UserCodersTests {
    struct Person: Codable, Equatable, Sendable {
        var firstName: String
        var isMember = true
        var born = Date(timeIntervalSince1970: 5)
        var nickNames = ["a", "b"]
        var phone: String?
    }

    struct Portals: Codable, Equatable, Sendable {
        var phoneNumbers: [Row]

        struct Row: Codable, Equatable, Sendable {
            var recordId: Int?
            var modId: String?
            var phoneKind: String
        }
    }

    private static func snakeCase(_ config: inout DataAPI.Config) {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        config.encoder = encoder
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        config.decoder = decoder
    }

    @Test func theEncoderWritesFieldsAlone() async throws {
        try await ScriptedHost.run(
            client: Self.snakeCase,
            answer: { _ in .json(#"{"recordId":"1","modId":"0"}"#) }
        ) { host in
            var record = EditRecord(
                editRecord: Person(firstName: "A\"b\\"),
                portalData: Portals(phoneNumbers: [
                    .init(recordId: 7, modId: "1", phoneKind: "x"), .init(phoneKind: "y"),
                ]),
                modId: 3,
                script: ScriptQuery(script: "After")
            )
            record.deleteRelated = [.init(portal: "Lines", recordId: 4)]
            record.options = .init(entryMode: .script)
            _ = try await host.layout.editRecord(record: record, recordId: 1).firstValue()
            expectNoDifference(
                host.calls.last?.text,
                #"{"fieldData":{"born":5,"first_name":"A\"b\\","is_member":true,"nick_names(1)":"a","nick_names(2)":"b","#
                    + #""deleteRelated":["Lines.4"]},"#
                    + #""portalData":{"phoneNumbers":[{"modId":"1","phone_kind":"x","recordId":"7"},{"phone_kind":"y"}]},"#
                    + #""modId":"3","options":{"entrymode":"script"},"script":"After"}"#
            )
            _ = try await host.layout.createRecord().firstValue()
            expectNoDifference(host.calls.last?.text, #"{"fieldData":{}}"#)
        }
    }

    @Test func theDecoderReadsFieldsAlone() async throws {
        let answer = """
            {"dataInfo":{"database":"d","layout":"l","table":"t","totalRecordCount":1,"foundCount":1,"returnedCount":1},
            "data":[{"fieldData":{"first_name":"A}\\"","is_member":true,"born":5,"nick_names":["a","b"]},
            "portalData":{"phone_numbers":[{"recordId":7,"modId":"1","phone_kind":"x"},{"phone_kind":"{"}]},
            "portalDataInfo":[],"recordId":"1","modId":"2"}],"scriptResult":"r"}
            """
        struct Snakes: Decodable, Equatable, Sendable {
            var numbers: [Portals.Row]
            // Names of portals are those of the layout.
            enum CodingKeys: String, CodingKey { case numbers = "phone_numbers" }
        }
        try await ScriptedHost.run(client: Self.snakeCase, answer: { _ in .json(answer) }) { host in
            let response = try await host.layout.getRecords().returnAs(Person.self, Snakes.self).firstValue()
            expectNoDifference(response.data[0].fieldData, Person(firstName: "A}\""))
            expectNoDifference(
                response.data[0].portalData?.numbers,
                [.init(recordId: 7, modId: "1", phoneKind: "x"), .init(phoneKind: "{")]
            )
            expectNoDifference(response.data[0].recordId, 1)
            expectNoDifference(response.scriptResponse?.scriptResult, "r")
        }
    }

    @Test func aStrategyThatChangesEveryNameLeavesTheEnvelopeAlone() async throws {
        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Row: Codable, Equatable, Sendable {
            var recordId: String
            var kind: String
        }
        try await ScriptedHost.run(
            client: { config in
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .custom { Key(stringValue: "x_" + ($0.last?.stringValue ?? "")) }
                config.encoder = encoder
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .custom {
                    Key(stringValue: String(($0.last?.stringValue ?? "").dropFirst(2)))
                }
                config.decoder = decoder
            },
            answer: { _ in
                .json(#"{"data":[{"fieldData":{"x_Name":"a"},"portalData":{},"recordId":"1","modId":"2"}]}"#)
            }
        ) { host in
            let response = try await host.layout.getRecords().returnAs([String: String].self).firstValue()
            expectNoDifference(response.data[0].fieldData, ["x_Name": "a"])
            let portal = ["Lines": [Row(recordId: "7", kind: "k")]]
            _ = await host.layout.editRecord(record: EditRecord(editRecord: ["a": 1], portalData: portal), recordId: 1)
                .awaitSingleResult()
            let body = host.calls.last?.text ?? ""
            #expect(body.hasPrefix(#"{"fieldData":{"a":1},"portalData":{"Lines":[{"#))
            #expect(body.contains(#""recordId":"7""#) && body.contains(#""x_kind":"k""#))
        }
    }

    @Test func errorsHaveTheWayFromTheTop() async throws {
        try await ScriptedHost.run(
            client: Self.snakeCase,
            answer: { _ in .json(#"{"data":[{"fieldData":{"first_name":1},"recordId":"1","modId":"2"}]}"#) }
        ) { host in
            let error = await host.layout.getRecords().returnAs(Person.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .decoding)
            #expect(error?.reason.contains("data[0].fieldData") == true)
        }
    }

    @Test func parametersAndResultsOfScriptsArePlainJSON() async throws {
        struct Order: Codable, Equatable, Sendable { var articleName: String }
        try await ScriptedHost.run(
            client: Self.snakeCase,
            answer: { _ in .json(#"{"scriptResult":"{\"articleName\":\"a\"}","scriptError":"0"}"#) }
        ) { host in
            let order = try await host.layout.runScript(
                "S",
                parameter: .json(Order(articleName: "b")),
                returning: Order.self
            ).firstValue()
            expectNoDifference(order, Order(articleName: "a"))
            #expect(host.calls.last?.target.hasSuffix("script.param=%7B%22articleName%22%3A%22b%22%7D") == true)
        }
    }
}
