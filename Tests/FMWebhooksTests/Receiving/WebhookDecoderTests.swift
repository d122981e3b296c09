import CustomDump
import FMData
import FMTestSupport
import FMWebhooks
import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct WebhookDecoderTests {
    private static let mark = "6f0b3c1e-53f5-4b7e-9c58-0b1e9a6d2f11"
    private let key = WebhookKey(
        mark: UUID(
            uuid: (0x6F, 0x0B, 0x3C, 0x1E, 0x53, 0xF5, 0x4B, 0x7E, 0x9C, 0x58, 0x0B, 0x1E, 0x9A, 0x6D, 0x2F, 0x11)
        ),
        secret: "s3cret"
    )
    private let now = Date(timeIntervalSince1970: 1_000_000)
    private var decoder: WebhookDecoder { WebhookDecoder(key: key) }

    private func outcome(
        _ body: String,
        path: String? = nil,
        method: String = "POST",
        headers: [(name: String, value: String)] = [("x-fmdata-SECRET", "s3cret")]
    ) -> WebhookDecoder.Outcome {
        decoder.outcome(
            method: method,
            path: path ?? key.path(database: "Harbor", table: "Vessels"),
            headers: headers,
            body: Array(body.utf8),
            receivedAt: now
        )
    }

    private func hint(
        table: String? = "Vessels",
        _ rowIDs: [Int]? = nil,
        isSchema: Bool = false
    ) -> WebhookDecoder.Outcome {
        let hint = DataAPI.ChangeHint(
            database: "Harbor",
            table: table,
            rowIDs: rowIDs,
            isSchema: isSchema,
            receivedAt: now
        )
        return WebhookDecoder.Outcome(status: 200, hint: hint)
    }

    // MARK: Authentication

    @Test func theHeadAloneDecidesWhoIsRefused() {
        let path = key.path(database: "Harbor", table: "Vessels")
        expectNoDifference(outcome("{}", method: "GET"), .init(status: 404))
        expectNoDifference(outcome("{}", path: "/"), .init(status: 404))
        expectNoDifference(outcome("{}", path: "/\(UUID().uuidString)/Harbor/Vessels"), .init(status: 404))
        expectNoDifference(outcome("{}", path: "/\(Self.mark)"), .init(status: 404))
        expectNoDifference(outcome("{}", path: path + "/more"), .init(status: 404))
        expectNoDifference(outcome("{}", path: "/\(Self.mark)/%FF/Vessels"), .init(status: 404))
        expectNoDifference(outcome("{}", headers: []), .init(status: 401))
        for secret in ["", "s3cre", "s3cret ", "S3cret", "s3crets3cret"] {
            expectNoDifference(outcome("{}", headers: [(WebhookKey.header, secret)]), .init(status: 401))
        }
        expectNoDifference(
            outcome("{}", headers: [(WebhookKey.header, "s3cret"), (WebhookKey.header, "wrong")]),
            .init(status: 401)
        )
        expectNoDifference(outcome("{}", path: "/behind/a/proxy" + path + "?x=1").status, 200)
    }

    @Test func thePathCarriesNamesOfAnyLetters() {
        let path = key.path(database: "Häfen & Co", table: "A/B (2)")
        expectNoDifference(path, "/\(Self.mark)/H%C3%A4fen%20%26%20Co/A%2FB%20%282%29")
        let hint = outcome("", path: path).hint
        expectNoDifference(hint?.database, "Häfen & Co")
        expectNoDifference(hint?.table, "A/B (2)")
        let body = #"{"@odata.context":"$metadata#A/B (2)(\"ROWID\")","value":[{"ROWID":3}]}"#
        expectNoDifference(outcome(body, path: path).hint?.rowIDs, [3])
    }

    @Test func nothingSecretIsPrinted() {
        var text = "\(key)"
        customDump(key, to: &text)
        #expect(!text.contains("s3cret"))
        #expect(!text.lowercased().contains("6f0b3c1e"))
        #expect(WebhookKey(mark: UUID()).secret.count == 64)
    }

    // MARK: Bodies

    @Test func theRowsOfARecordedDelivery() {
        // The format of a recorded delivery: tabs, relative URLs, a composite key.
        let body = """
            {
            \t"@odata.context" : "fmi/odata/v4/Harbor/$metadata#Vessels(\\"ROWID\\",\\"ROWMODID\\")",
            \t"value" : [
            \t\t{
            \t\t\t"@odata.id" : "fmi/odata/v4/Harbor/Vessels(5210,'K7')",
            \t\t\t"@odata.editLink" : "fmi/odata/v4/Harbor/Vessels(5210,'K7')",
            \t\t\t"ROWID" : 20418, "ROWMODID" : 0
            \t\t}, { "ROWID" : 7, "ROWMODID" : 12 }, { "ROWID" : 7, "ROWMODID" : 12 }
            \t]
            }
            """
        expectNoDifference(outcome(body), hint([7, 20418]))
    }

    @Test(arguments: [
        (#"{"@context":"x#Vessels","value":[{"rowId":"5"}]}"#, [5]),
        (#"{"@odata.context":"x#Vessels","value":[{"@odata.id":"f/Vessels(ROWID=2)"}]}"#, [2]),
        (#"{"@ODATA.CONTEXT":"x#Vessels","VALUE":[{"ROWID":1}]}"#, [1]),
        // The table's own key is no ROWID.
        (#"{"@odata.context":"x#Vessels","value":[{"@odata.id":"f/Vessels(17)"}]}"#, nil),
        (#"{"@odata.context":"x#Vessels","value":[{"ROWID":1},{"Name":"x"}]}"#, nil),
        // -1 stands for the whole table.
        (#"{"@odata.context":"x#Vessels","value":[{"ROWID":-1}]}"#, nil),
        (#"{"@odata.context":"x#Vessels","value":[]}"#, nil),
        (#"{"@odata.context":"x#Vessels","value":[{}]}"#, nil),
        (#"{"@odata.context":"x#Vessels"}"#, nil),
        (#"{"@odata.context":"x#Vessels","value":{"ROWID":1}}"#, nil),
        (#"{"@odata.context":"x#Vessels","value":[{"ROWID":99999999999999999999}]}"#, nil),
    ])
    func rowsWhereTheyCanBeKnown(_ body: String, _ ids: [Int]?) {
        expectNoDifference(outcome(body), hint(ids))
    }

    @Test(arguments: [
        "", "{", "[]", "null", "7", #"{"value":[{"ROWID":1,"a":.5}]}"#, #"{"@odata.context":"#,
        #"{"@odata.context":"x#Vessels","value":[{"ROWID":1,"Total":?}]}"#,
        "{\"@odata.context\":\"x#Vessels\",\"value\":[{\"ROWID\":1,\"Note\":\"a\u{1}b\"}]}",
        String(repeating: "[", count: 100_000),
    ])
    func whatCannotBeReadIsAHintAtTheTable(_ body: String) {
        expectNoDifference(outcome(body), hint())
    }

    @Test func aBodyThatIsNoUTF8() {
        let outcome = decoder.outcome(
            method: "POST",
            path: key.path(database: "Harbor", table: "Vessels"),
            headers: [(WebhookKey.header, "s3cret")],
            body: Array(#"{"@odata.context":"x#Vessels","value":[{"N":""#.utf8) + [0xFF, 0xFE],
            receivedAt: now
        )
        expectNoDifference(outcome, hint())
    }

    @Test func whereThePathNamesNoTableTheBodyDoes() {
        let path = key.path(database: "Harbor")
        expectNoDifference(outcome(#"{"@odata.context":"x#Old%20Ships(\"a\")"}"#, path: path), hint(table: "Old Ships"))
        expectNoDifference(outcome("?", path: path), hint(table: nil))
        expectNoDifference(outcome(#"{"@odata.context":"x"}"#, path: path), hint(table: nil))
        expectNoDifference(outcome(#"{"@odata.context":"x#("}"#, path: path), hint(table: nil))
    }

    @Test func aPathAndABodyThatDoNotAgreeHintAtAll() {
        let body = #"{"@odata.context":"x#Crew(\"a\")","value":[{"ROWID":4}]}"#
        expectNoDifference(outcome(body), hint(table: nil))
        expectNoDifference(outcome(#"{"@odata.context":"x#VesselsOld","value":[{"ROWID":4}]}"#), hint(table: nil))
    }

    @Test func aChangeOfDefinitions() {
        let body =
            #"{"@odata.context":"x#FileMaker_Tables(\"BaseTableName\")","value":[{"TableName":"Vessels","TableId":1}]}"#
        expectNoDifference(outcome(body), hint(table: nil, isSchema: true))
    }

    /// For any bytes the answer is 200, and the hint covers at least the whole table.
    @Test(.thorough, arguments: 0..<20) func randomBytes(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let whole = Array(
            #"{"@odata.context":"x#Vessels(\"ROWID\")","value":[{"ROWID":1},{"@odata.id":"V(ROWID=2)"}]}"#.utf8
        )
        for _ in 0..<200 {
            var body = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) where !body.isEmpty {
                let place = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: body[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: body.removeSubrange(place...)
                default: body.insert(UInt8.random(in: 0x20...0x7E, using: &random), at: place)
                }
            }
            let outcome = decoder.outcome(
                method: "POST",
                path: key.path(database: "Harbor", table: "Vessels"),
                headers: [(WebhookKey.header, "s3cret")],
                body: body,
                receivedAt: now
            )
            #expect(outcome.status == 200)
            #expect(outcome.hint?.database == "Harbor")
            if outcome.hint?.table == nil { #expect(outcome.hint?.rowIDs == nil) }
        }
    }
}
