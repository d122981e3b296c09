import FMTestSupport
import Testing

@testable import FMSandbox

/// The sandbox answers each kind of request with the same keys, types and nesting as the saved answers, for every
/// server version that it imitates.
@Suite(.timeLimit(.minutes(15))) struct AnswerShapeTests {
    struct Comparison: CustomTestStringConvertible {
        var saved: SavedAnswer
        var version: Sandbox.ServerVersion
        var testDescription: String { "\(saved.testDescription) as \(version)" }
    }

    /// Saved answers that are not a released server's answer to such a request, by the beginning of the file's name.
    private static let skipped = [
        "errors/401-no-records-script-step": "the answer of a script step, not of a server",
        "errors/9-insufficient-privileges":
            "an anonymous list of databases, which later servers answer with an empty list",
        "record-find/fms18-field-question-mark": "the recording client overwrote totalRecordCount with a text",
        "record-get/fms18-list-portaldatainfo": "the recording client overwrote totalRecordCount with a text",
        "record-get/fms18-prerelease-repeating-fields":
            "a pre-release: dataSource and resultSet stand for dataInfo",
        "record-get/script-step-": "the answer of a script step, not of a server",
    ]

    private static func isSkipped(_ saved: SavedAnswer) -> Bool {
        skipped.keys.contains { saved.file.hasPrefix($0) }
    }

    static let comparisons = SavedAnswer.everywhere.filter { !$0.synthetic && !isSkipped($0) }
        .flatMap { saved in versions(of: saved).map { Comparison(saved: saved, version: $0) } }

    /// The versions that may have sent the answer: the version that did, if it is known, otherwise all that support the
    /// request.
    private static func versions(of saved: SavedAnswer) -> [Sandbox.ServerVersion] {
        if let known = saved.serverVersion?.prefix(2), let version = Int(known) {
            return Sandbox.ServerVersion(rawValue: version).map { [$0] } ?? []
        }
        let first: Sandbox.ServerVersion =
            switch (saved.group, saved.file) {
            case (_, "errors/952-invalid-token.json"): .v19
            case ("errors", _), ("session", _): .v17
            default: .v18
            }
        return Sandbox.ServerVersion.allCases.filter { $0 >= first }
    }

    @Test func nothingIsSkippedUnseen() {
        let sent = SavedAnswer.own.filter { !$0.synthetic }
        for name in Self.skipped.keys { #expect(sent.contains { $0.file.hasPrefix(name) }, "\(name)") }
        let compared = Set(Self.comparisons.map(\.saved.file))
        for saved in sent { #expect(Self.isSkipped(saved) != compared.contains(saved.file), "\(saved.file)") }
        #expect(Set(Self.comparisons.map(\.version)) == Set(Sandbox.ServerVersion.allCases))
    }

    @Test(.thorough, arguments: comparisons)
    func theShapeIsThatOfTheSavedAnswer(_ comparison: Comparison) async throws {
        let saved = comparison.saved
        try await withBench(.inProcess, [Self.solution], configure: { $0.serverVersion = comparison.version }) {
            (bench: Bench) async throws in
            let answer = try await Self.answer(bench, like: saved)
            let json = try Self.json(saved)
            let own = Self.part(of: answer.json, like: json, saved)
            #expect(Shape(own).covers(Shape(json)), "\(Shape(own)) is not \(Shape(json))")
            if saved.enveloped { #expect(answer.code == json["messages"][0]["code"].string) }
            if let status = saved.httpStatus { #expect(answer.status == status) }
        }
    }

    private static func json(_ saved: SavedAnswer) throws -> JSONValue {
        var bytes = try saved.bytes()
        // An editor added a byte-order mark; servers send none.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return try JSONParser.parse(bytes)
    }

    /// `Shape.covers` notices differences; otherwise the comparison would prove nothing.
    @Test func shapesTellDifferencesApart() throws {
        func covers(_ own: JSONValue, _ recorded: JSONValue) -> Bool { Shape(own).covers(Shape(recorded)) }
        let record: JSONValue = [
            "fieldData": ["a": "1", "b": .int(2)], "portalData": ["p": [["recordId": "1", "p::a": "x", "modId": "0"]]],
        ]
        #expect(covers(record, ["fieldData": ["other": .int(3)], "portalData": [:]]))
        #expect(covers(record, ["fieldData": [:], "portalData": ["q": []]]))
        #expect(!covers(record, ["fieldData": ["a": true], "portalData": [:]]))
        #expect(!covers(record, ["fieldData": [:]]))
        #expect(!covers(record, ["fieldData": [:], "portalData": [:], "recordId": "1"]))
        #expect(
            !covers(
                record,
                ["fieldData": [:], "portalData": ["p": [["recordId": .int(1), "p::a": "x", "modId": "0"]]]]
            )
        )
        #expect(!covers(record, ["fieldData": [:], "portalData": ["p": [["recordId": "1", "p::a": "x"]]]]))
        #expect(!covers(["layouts": [["name": "a"]]], ["layouts": [["name": "a", "table": "b"]]]))
        #expect(!covers([:], []))
    }

    // MARK: The sandbox's answers

    /// The sample file with a layout that shows portals with and without an object name, numbers and texts.
    private static let solution: Solution = {
        var solution = Solution.sample
        solution.layouts.append(
            .layout(
                .init(
                    name: "Everything",
                    table: "Contacts",
                    fields: ["Id", "Name", "Balance", "Birthday", "Nicknames", "Photo", "Label"],
                    portals: [
                        .init(table: "Phones", fields: ["Phones::ContactId", "Phones::Number"]),
                        .init(table: "Phones", name: "Calls", fields: ["Phones::ContactId", "Phones::Number"]),
                    ]
                )
            )
        )
        return solution
    }()

    private static func answer(_ bench: Bench, like saved: SavedAnswer) async throws -> Bench.Answer {
        let records = "layouts/Everything/records"
        switch saved.group {
        case "container": return try await bench.upload("\(records)/1/containers/Photo/1", [1, 2, 3])
        case "databases":
            return try await bench.send("GET", bench.path("/databases"), headers: [Bench.basic("admin", "secret")])
        case "errors": return try await error(bench, like: saved)
        case "globals": return try await bench.patch("globals", ["globalFields": ["Contacts::gFilter": "x"]])
        case "layout-metadata":
            // The saved answers are of layouts without value lists, and only these lack the key.
            return try await bench.get("layouts/Everything")
        case "layouts": return try await bench.get("layouts")
        case "product-info": return try await bench.get("/productInfo")
        case "record-create": return try await bench.post(records, ["fieldData": ["Name": "Lise Meitner"]])
        case "record-delete": return try await bench.delete("\(records)/2")
        case "record-duplicate": return try await bench.post("\(records)/2")
        case "record-edit": return try await bench.patch("\(records)/2", ["fieldData": ["Name": "Émilie"]])
        case "record-find": return try await bench.find("Everything", [["Id": "*"]])
        case "record-get": return try await bench.get(records)
        case "script-run": return try await bench.get("layouts/Everything/script/Echo", [("script.param", "x")])
        case "scripts": return try await bench.get("scripts")
        case "session":
            guard saved.file.contains("logout") else { return try await bench.login() }
            return try await bench.delete("sessions/\(bench.token ?? "")")
        default: throw UnknownGroup(name: saved.group)
        }
    }

    private static func error(_ bench: Bench, like saved: SavedAnswer) async throws -> Bench.Answer {
        switch saved.file {
        case "errors/10-authorization-header-missing.json":
            return try await bench.send("POST", bench.path("sessions"), headers: [Bench.json], body: Array("{}".utf8))
        case "errors/105-layout-missing.json": return try await bench.get("layouts/Nowhere/records")
        case "errors/201-field-cannot-be-modified.json":
            return try await bench.patch("layouts/Everything/records/1", ["fieldData": ["Label": "x"]])
        case "errors/952-invalid-token.json":
            var stranger = bench
            stranger.token = "0123456789"
            return try await stranger.get("/validateSession")
        default: throw UnknownGroup(name: saved.file)
        }
    }

    private struct UnknownGroup: Error { var name: String }

    /// The part of an answer that was saved: some clients unwrapped it.
    private static func part(of answer: JSONValue, like json: JSONValue, _ saved: SavedAnswer) -> JSONValue {
        guard !saved.enveloped else { return answer }
        let response = answer["response"]
        switch (saved.group, json) {
        case ("product-info", _): return response["productInfo"]
        case ("databases", .array), ("layouts", .array), ("scripts", .array): return response[saved.group]
        case ("record-get", .object(let object)) where object["fieldData"] != nil: return response["data"][0]
        default: return response
        }
    }
}
