import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

/// The full texts of errors about solution files that cannot be read.
@Suite(.timeLimit(.minutes(15))) struct SolutionErrorTests {
    /// The error's text without the name of the file.
    private func reason(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try withTemporaryFile(Data(text.utf8)) { path in
            let error = #expect(throws: SolutionError.self, sourceLocation: sourceLocation) {
                try Solution.load(from: URL(fileURLWithPath: path))
            }
            let description = try #require(error, sourceLocation: sourceLocation).description
            #expect(description.hasPrefix("\(path): "), sourceLocation: sourceLocation)
            return String(description.dropFirst(path.count + 2))
        }
    }

    @Test(arguments: [
        ("", "line 1, column 1: expected a value, found the end of the file"),
        ("{\"name\":\"X\"\n", "line 2, column 1: expected , or }, found the end of the file"),
        ("{\n  \"name\" \"X\"}", #"line 2, column 10: expected :, found "\"""#),
        ("{\"name\":\"X\",\r\n \"Ä\":[1 2]}", #"line 2, column 9: expected , or ], found "2""#),
        ("{\"name\":\"X\",}", #"line 1, column 13: expected a key in quotes, found "}""#),
        ("{\"name\":\"X\",\"tables\":[],\"layouts\":[1,]}", #"line 1, column 38: expected a value, found "]""#),
        ("\u{FEFF}{\"name\": X}", #"line 1, column 10: expected a value, found "X""#),
        ("{\"name\":\"X\"} {", #"line 1, column 14: expected nothing after the value, found "{""#),
        ("{\"name\":\"X\ny\"}", "line 1, column 11: control character in a string"),
        ("{\"name\":\"X\"\n,\"y\":-}", #"line 2, column 7: expected a digit, found "}""#),
    ])
    func textThatIsNoJSON(_ text: String, _ expected: String) throws {
        expectNoDifference(try reason(text), expected)
    }

    @Test(arguments: [
        (#"{"nmae":"X"}"#, "nmae: unknown key; did you mean name? known are \(topKeys)"),
        (#"{"name":"X","colour":1}"#, "colour: unknown key; known are \(topKeys)"),
        (#"{}"#, "missing key name"), (#"[]"#, "expected an object, found a list"),
        (#"{"name":7}"#, "name: expected a text, found a number"),
        (#"{"name":"X","tables":{}}"#, "tables: expected a list, found an object"),
        (
            #"{"name":"X","tables":[{"name":"T","fields":[7]}]}"#,
            "tables[0].fields[0]: expected an object, found a number"
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","type":"Text"}]}]}"#,
            #"tables[0].fields[0].type: expected "text", "number", "date", "time", "timestamp" or "container", found "Text""#
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","type":5}]}]}"#,
            #"tables[0].fields[0].type: expected "text", "number", "date", "time", "timestamp" or "container", found 5"#
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","summary":{"function":[],"field":"B"}}]}]}"#,
            #"tables[0].fields[0].summary.function: expected "count", "total", "minimum" or "maximum", found a list"#
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":[{"name":"A","summary":{"field":"B"}}]}]}"#,
            "tables[0].fields[0].summary: missing key function"
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{"A":true}]}]}"#,
            "tables[0].records[0].A: expected a text or a number, found true or false"
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":["A"],"globals":[]}]}"#,
            "tables[0].globals: expected an object, found a list"
        ),
        (
            #"{"name":"X","layouts":[{"name":"L","table":"T","view":"list"}]}"#,
            #"layouts[0].view: expected "form" or "table", found "list""#
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":["A",{"name":"B","repetitions":1.5}]}]}"#,
            "tables[0].fields[1].repetitions: a number has a fraction or is too large for its place, found 1.5"
        ),
        (
            #"{"name":"X","tables":[{"name":"T","fields":["A"],"records":[{"A":2.5}],"nextRecordId":99999999999999999999}]}"#,
            "a number has a fraction or is too large for its place"
        ), (#"{"name":"X","server":{"version":20}}"#, "server.version: expected 17, 18, 19 or 22, found 20"),
        (
            #"{"name":"X","server":{"findPastEnd":401}}"#,
            #"server.findPastEnd: expected "401", "101" or "empty", found 401"#
        ),
        (
            #"{"name":"X","accounts":[{"name":"a","kind":"claris"}]}"#,
            #"accounts[0].kind: expected "fileMaker", "oauth" or "clarisID", found "claris""#
        ),
    ])
    func valuesThatAreWrong(_ text: String, _ expected: String) throws {
        expectNoDifference(try reason(text), expected)
    }

    private static let topKeys =
        "accounts, dataSources, dateFormat, layouts, name, occurrences, privilegeSets, relationships, scripts, server, tables, "
        + "valueLists"

    @Test func filesThatCannotBeRead() {
        func reason(_ path: String) -> String? {
            let error = #expect(throws: SolutionError.self) { try Solution.load(from: URL(fileURLWithPath: path)) }
            return error?.description
        }
        expectNoDifference(reason("/nowhere/x.json"), "/nowhere/x.json: there is no such file")
        // The path is shown as it was given.
        expectNoDifference(reason("nowhere/x.json"), "nowhere/x.json: there is no such file")
        expectNoDifference(reason("/dev"), "/dev: expected a file, found a folder")
        #if os(Linux)
        // This file can be opened, but not read.
        expectNoDifference(reason("/proc/self/mem"), "/proc/self/mem: the file cannot be read")
        #endif
    }

    @Test func aPortThatIsTaken() async throws {
        let first = try await Sandbox.start()
        let configuration = Sandbox.Configuration { $0.port = first.port }
        let error = await #expect(throws: Sandbox.PortError.self) {
            try await Sandbox.start(configuration: configuration)
        }
        expectNoDifference(error, .init(port: first.port, reason: "another program listens on it"))
        expectNoDifference(error?.description, "port \(first.port) of 127.0.0.1: another program listens on it")
        await first.stop()
    }
}
