import Foundation
import Testing

@testable import FMSandbox

/// Every answer recorded from a real server, and the sandbox's answer to the same kind of request: the same keys, types and
/// nesting, as each server version the sandbox imitates.
@Suite(.timeLimit(.minutes(15))) struct CaptureShapeTests {
    /// An entry of the index of recorded answers.
    struct Capture: Decodable {
        var file: String
        var group: String
        var enveloped: Bool
        var httpStatus: Int?
        var serverVersion: String?
        var synthetic: Bool

        // SwiftPM gives a target no resources from the folder of another, and one copy of the recordings is enough.
        static let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("FMDataTests/Captures")

        static func index() throws -> [Capture] {
            try JSONDecoder()
                .decode([Capture].self, from: Data(contentsOf: folder.appendingPathComponent("index.json")))
        }

        func json() throws -> JSONValue {
            var bytes = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(file)))
            // An editor's byte-order mark; servers send none.
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
            return try JSONParser.parse(bytes)
        }

        /// The versions that may have sent it: the recorded one, otherwise all that know the request.
        var versions: [Sandbox.ServerVersion] {
            if let recorded = serverVersion?.prefix(2), let version = Int(recorded) {
                return Sandbox.ServerVersion(rawValue: version).map { [$0] } ?? []
            }
            let first: Sandbox.ServerVersion =
                switch (group, file) {
                case (_, "errors/952-invalid-token.json"): .v19
                case ("errors", _), ("session", _): .v17
                default: .v18
                }
            return Sandbox.ServerVersion.allCases.filter { $0 >= first }
        }
    }

    struct Comparison: CustomTestStringConvertible {
        var capture: Capture
        var version: Sandbox.ServerVersion
        var testDescription: String { "\(capture.file) as \(version)" }
    }

    /// What was recorded, but is not the answer of a released server to this request.
    static let skipped = [
        "errors/401-no-records-script-step.json": "the answer of a script step, not of a server",
        "errors/9-insufficient-privileges.json":
            "an anonymous list of databases, which later servers answer with an empty list",
        "record-find/fms18-field-question-mark.json": "the recording client overwrote totalRecordCount with a text",
        "record-get/fms18-list-portaldatainfo.json": "the recording client overwrote totalRecordCount with a text",
        "record-get/fms18-prerelease-repeating-fields-100-records.json":
            "a pre-release: dataSource and resultSet stand for dataInfo",
        "record-get/script-step-records-unwrapped.json": "the answer of a script step, not of a server",
        "record-get/script-step-sorted-keys.json": "the answer of a script step, not of a server",
    ]

    static let comparisons = ((try? Capture.index()) ?? []).filter { !$0.synthetic && skipped[$0.file] == nil }
        .flatMap { capture in capture.versions.map { Comparison(capture: capture, version: $0) } }

    @Test func nothingIsSkippedUnseen() throws {
        let recorded = try Capture.index().filter { !$0.synthetic }
        #expect(Set(Self.skipped.keys).isSubset(of: recorded.map(\.file)))
        #expect(Set(Self.comparisons.map(\.capture.file)).count == recorded.count - Self.skipped.count)
        #expect(Set(Self.comparisons.map(\.version)) == Set(Sandbox.ServerVersion.allCases))
    }

    @Test(arguments: comparisons)
    func theShapeIsThatOfTheRecording(_ comparison: Comparison) async throws {
        let capture = comparison.capture
        try await withBench(.inProcess, [Self.solution], configure: { $0.serverVersion = comparison.version }) {
            (bench: Bench) async throws in
            let answer = try await Self.answer(bench, like: capture)
            let recorded = try capture.json()
            let own = Self.part(of: answer.json, like: recorded, capture)
            #expect(Shape(own).covers(Shape(recorded)), "\(Shape(own)) is not \(Shape(recorded))")
            if capture.enveloped { #expect(answer.code == recorded["messages"][0]["code"].string) }
            if let status = capture.httpStatus { #expect(answer.status == status) }
        }
    }

    /// A comparison that lets everything pass would be worthless.
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

    // MARK: The sandbox's side

    /// The sample with a layout that shows all there is: portals with and without an object name, numbers and texts.
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

    private static func answer(_ bench: Bench, like capture: Capture) async throws -> Bench.Answer {
        let records = "layouts/Everything/records"
        switch capture.group {
        case "container": return try await bench.upload("\(records)/1/containers/Photo/1", [1, 2, 3])
        case "databases":
            return try await bench.send("GET", bench.path("/databases"), headers: [Bench.basic("admin", "secret")])
        case "errors": return try await error(bench, like: capture)
        case "globals": return try await bench.patch("globals", ["globalFields": ["Contacts::gFilter": "x"]])
        case "layout-metadata":
            // Only a layout without value lists answers without the key, as the recorded ones do.
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
            guard capture.file.contains("logout") else { return try await bench.login() }
            return try await bench.delete("sessions/\(bench.token ?? "")")
        default: throw UnknownGroup(name: capture.group)
        }
    }

    private static func error(_ bench: Bench, like capture: Capture) async throws -> Bench.Answer {
        switch capture.file {
        case "errors/10-authorization-header-missing.json":
            return try await bench.send("POST", bench.path("sessions"), headers: [Bench.json], body: Array("{}".utf8))
        case "errors/105-layout-missing.json": return try await bench.get("layouts/Nowhere/records")
        case "errors/201-field-cannot-be-modified.json":
            return try await bench.patch("layouts/Everything/records/1", ["fieldData": ["Label": "x"]])
        case "errors/952-invalid-token.json":
            var stranger = bench
            stranger.token = "0123456789"
            return try await stranger.get("/validateSession")
        default: throw UnknownGroup(name: capture.file)
        }
    }

    private struct UnknownGroup: Error { var name: String }

    /// The part of an answer that a recording holds: clients unwrapped some before they were saved.
    private static func part(of answer: JSONValue, like recorded: JSONValue, _ capture: Capture) -> JSONValue {
        guard !capture.enveloped else { return answer }
        let response = answer["response"]
        switch (capture.group, recorded) {
        case ("product-info", _): return response["productInfo"]
        case ("databases", .array), ("layouts", .array), ("scripts", .array): return response[capture.group]
        case ("record-get", .object(let object)) where object["fieldData"] != nil: return response["data"][0]
        default: return response
        }
    }
}
