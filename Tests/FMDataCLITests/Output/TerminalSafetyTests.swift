import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// What stands in records does nothing to a terminal.
@Suite(.timeLimit(.minutes(15))) struct TerminalSafetyTests {
    private static let hostile =
        "a\u{1B}]0;owned\u{7}\u{9B}2J\u{7F}\u{85}\u{202E}\u{2066}\u{200E}\u{61C}\u{2028}\rb\tc\nd\u{1B}[31m"

    /// Whether a terminal would act on a scalar, or show what is around it in another order.
    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\t": false
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}",
            "\u{2066}"..."\u{2069}":
            true
        default: false
        }
    }

    private static func withHostileMember(_ body: (Home) async throws -> Void) async throws {
        let solution = Solution.single(
            "Members",
            fields: [Solution.Field("Name"), Solution.Field("N\u{9B}2J")],
            layoutFields: ["Name", "N\u{9B}2J"],
            records: [Solution.Record(["Name": hostile, "N\u{9B}2J": "x"])]
        )
        try await Home.with(solutions: [solution]) { home in
            let environment = ["FM_DATABASE": "Single", "FM_PASSWORD": "", "NO_COLOR": "1"]
            try await body(home.asAdmin.setting(environment))
        }
    }

    #if os(Linux)
    @Test(
        .thorough,
        arguments: [
            ["find", "Members", "--csv"], ["find", "Members", "--json"], ["find", "Members", "--ndjson"],
            ["find", "Members"], ["find", "Members", "-x"], ["get", "Members", "1", "--csv"], ["fields", "Members"],
            ["export", "Members"], ["export", "Members", "--csv"], ["export", "Members", "--sql"],
            ["request", "GET", "layouts/Members/records"], ["request", "GET", "layouts/Members"],
            ["edit", "Members", "1", "Name=\(hostile)", "--dry-run"], ["find", "Members", "Nope\u{1B}[31m\u{9B}2J=1"],
        ]
    )
    func nothingActsOnATerminal(_ arguments: [String]) async throws {
        try await Self.withHostileMember { home in
            let terminal = try Terminal(columns: 300)
            _ = try await FinishedProgram.run(
                arguments + ["--quiet"],
                environment: ["HOME": home.folder.path].merging(home.environment) { $1 },
                terminal: terminal,
                outputIsTerminal: true
            )
            let text = await terminal.allText()
            #expect(!text.isEmpty)
            expectNoDifference(String(String.UnicodeScalarView(text.unicodeScalars.filter(Self.isDangerous))), "")
        }
    }

    @Test func theResultOfAScriptDoesNeither() async throws {
        try await Home.with { home in
            let home = home.asAdmin
            let terminal = try Terminal()
            _ = try await home.fmdata(
                "script",
                "Contacts",
                "Echo",
                "one\rtwo\tthree\u{1B}[2J\u{9B}2J",
                "--quiet",
                terminal: terminal,
                outputIsTerminal: true
            )
            expectNoDifference(awaited: await terminal.allText(), "one\ntwo\tthree\\u001b[2J\\u009b2J\n")
        }
    }

    @Test func whatIsJSONStaysTheSameJSON() async throws {
        try await Self.withHostileMember { home in
            let terminal = try Terminal(columns: 300)
            _ = try await home.fmdata(
                "get",
                "Members",
                "1",
                "--json",
                "--fields",
                "Name",
                "--quiet",
                terminal: terminal,
                outputIsTerminal: true
            )
            struct Member: Decodable { var fieldData: [String: String] }
            let text = await terminal.allText()
            let member = try JSONDecoder().decode(Member.self, from: Data(text.utf8))
            expectNoDifference(
                member.fieldData["Name"].map { Array($0.unicodeScalars) },
                Array(Self.hostile.unicodeScalars)
            )
        }
    }
    #endif

    @Test func programsGetEachByte() async throws {
        try await Self.withHostileMember { home in
            expectNoDifference(
                awaited: try await home.fmdata("find", "Members", "--csv", "--fields", "Name").output,
                "recordId,modId,Name\r\n1,0,\"\(Self.hostile)\"\r\n"
            )
            let object = try await home.fmdata("get", "Members", "1", "--fields", "Name").output
            #expect(object.contains("\u{9B}2J") && object.contains("\u{202E}\u{2066}"))
        }
    }
}
