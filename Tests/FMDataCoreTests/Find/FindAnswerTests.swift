import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Finds as they are sent, and answers without records.
@Suite(.timeLimit(.minutes(15))) struct FindAnswerTests {
    @Test(.tags(.fact)) func anEmptyFindIs401WithStatus500AndABadTokenIs952WithStatus401() async throws {
        try await World.run { world in
            let empty = await world.contacts.findRecords(
                query: FindQuery(query: [["Name": "==Nobody"]], noMatch: .failure)
            )
            .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(empty?.fileMakerCode, .noRecordsMatch)
            expectNoDifference(empty?.httpStatus, 500)
            let token = await world.database.server.validateSession(credentials: Credentials(token: "deadbeef"))
                .awaitSingleResult().failure
            expectNoDifference(token?.fileMakerCode, .invalidToken)
            expectNoDifference(token?.httpStatus, 401)
        }
    }

    @Test(.tags(.earlierClients))
    func noMatchIsAnAnswer() async throws {
        try await World.run { world in
            let response = try await world.contacts.findRecords(query: FindQuery(query: [["Name": "==Nobody"]]))
                .returnAs(Contact.self).firstValue()
            expectNoDifference(response.data, [])
        }
    }

    @Test(.tags(.earlierClients))
    func portalsOfAFindAreNamedInItsBodyAsTheyAre() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
            _ = try await host.layout.findRecords(
                query: FindQuery(query: [["a": "b"]], portal: [PortalRequest(name: "P & Q", limit: 3, offset: 2)])
            ).returnAs(FieldData.self).firstValue()
            expectNoDifference(host.calls.last?.target.contains("?"), false)
            expectNoDifference(
                host.calls.last?.text,
                #"{"limit.P & Q":"3","offset.P & Q":"2","portal":["P & Q"],"query":[{"a":"b"}]}"#
            )
        }
    }

    @Test(
        .tags(.earlierClients),
        arguments: [
            "\\", "~", "//", "...", "..", "…", "@", "#", "*", "?", "!", "=", "==", "<", ">", "≤", "≥", "\"", "{a}",
            "a@b.c",
        ]
    )
    func everyCharacterThatFileMakerTakesForAnOperatorIsEscaped(text: String) async throws {
        enum Key: String, CodingKey { case name = "Name" }
        try await World.run { world in
            let name = "Q\(text)Q"
            let made = try await world.contacts.createRecord(record: EditRecord(createRecord: ["Name": name]))
                .firstValue()
            let find = DataAPI.Find(Key.self) { $0(.name) == name }
            let found = try await world.contacts.findRecords(
                query: FindQuery(query: find.requests().map(\.dictionary))
            )
            .returnAs(FieldData.self).firstValue()
            expectNoDifference(found.data.map(\.recordId), [made.recordId])
        }
    }

    // MARK: Several lines

    private struct Note: LayoutRecord, Equatable {
        static let layout = "Notes"
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    private static let notes = Solution.single(fields: [.init("Name")], layoutFields: ["Name"])

    /// A find looks for a line feed in the form in which a write stores it.
    @Test(arguments: ["two\nlines", "two\r\nlines", "two\rlines", "two\n\nlines"], [true, false])
    func aTextOfSeveralLinesIsFoundAsItWasWritten(text: String, convertsLines: Bool) async throws {
        try await Hosted.run(
            Self.notes,
            client: { $0.encoding.lineBreaks = convertsLines ? .carriageReturns : .asTheyAre }
        ) { database, _ in
            let notes = database.layout(Note.self)
            let id = try await notes.create(Note(name: text)).firstValue().recordId
            _ = try await notes.create(Note(name: "two lines")).firstValue()
            let field = DataAPI.FindField(Note.CodingKeys.name)
            let finds = [
                field == text, field.begins(with: text), field.contains(text), field.ends(with: text),
                field.isOneOf([text, "three"]), field == text || field == "three",
            ]
            for find in finds {
                let found = try await notes.find(find).all().outcome().get()
                expectNoDifference(found.map(\.recordId), [id])
                let query = FindQuery(find, limit: 10)
                let response = try await notes.layout.findRecords(query: query).returnAs(FieldData.self).firstValue()
                expectNoDifference(response.data.map(\.recordId), [id])
            }
            // An upsert and a join find the record by this key.
            let saved = try await notes.upsert(Note(name: text), by: .name).firstValue()
            expectNoDifference(saved.recordId, id)
            let joined = try await [text].publisher.setFailureType(to: FMRest.APIError.self)
                .joining(notes, on: { $0 }, equals: .name).firstValue()
            expectNoDifference(joined.children.map(\.recordId), [id])
        }
    }

    /// A custom encoder writes texts unchanged.
    @Test func anEncoderOfOnesOwnKeepsLineFeedsInFindsToo() async throws {
        try await Hosted.run(Self.notes, client: { $0.encoder = JSONEncoder() }) { database, _ in
            let notes = database.layout(Note.self)
            let id = try await notes.create(Note(name: "two\nlines")).firstValue().recordId
            let found = try await notes.find { $0(.name) == "two\nlines" }.all().outcome().get()
            expectNoDifference(found.map(\.recordId), [id])
        }
    }

    @Test func aCriterionOfOnesOwnGoesAsItIs() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
            let field = DataAPI.FindField(Note.CodingKeys.name)
            let find = field.raw("==a\nb") || field == "c\n"
            for query in [FindQuery(find), FindQuery(query: [["Name": "==a\nb"]])] {
                _ = try await host.layout.findRecords(query: query).returnAs(FieldData.self).firstValue()
            }
            expectNoDifference(
                host.calls.suffix(2).map(\.text),
                [#"{"query":[{"Name":"==a\nb"},{"Name":"==c\\\r"}]}"#, #"{"query":[{"Name":"==a\nb"}]}"#]
            )
        }
    }

    @Test func requestsEndLinesAsTheHostDoes() throws {
        let field = DataAPI.FindField(named: "a")
        func criteria(_ find: DataAPI.Find) throws -> [String?] { try find.requests().map { $0.criteria["a"] } }
        expectNoDifference(try criteria(field == "x\r\ny\nz"), ["==x\ry\rz"])
        expectNoDifference(try criteria(field == "\n"), ["==\\\r"])
        expectNoDifference(try criteria(field > "x\ny"), [">x\ry"])
        expectNoDifference(try criteria(field.isIn("x\ny"..."z\n")), ["x\ry...z\\\r"])
        expectNoDifference(try criteria(field == "x\ny" || field == "x\ry"), ["==x\ry"])
        expectNoDifference(try criteria(!(field.begins(with: "x\n"))), ["==x\\\r*"])
        expectNoDifference(try criteria(field.raw("x\ny")), ["x\ny"])
        #expect(try (field == "x\ny").explain().contains(#"==x\ry"#))
    }
}
