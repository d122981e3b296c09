import CustomDump
import Foundation
import Testing

@testable import FMDataCLI

/// What was typed in the shell, now and earlier.
struct ShellHistoryTests {
    @Test func whatIsTakenAndWhatIsKept() {
        var history = ShellHistory(["layouts"])
        for line in ["layouts", "find Contacts", "", " find Secrets", "find Contacts", "layouts"] {
            history.add(line, isKept: true)
        }
        history.add("create Contacts Name=canary", isKept: false)
        expectNoDifference(
            history.lines,
            ["layouts", "find Contacts", "layouts", "create Contacts Name=canary"]
        )
        expectNoDifference(history.added, ["find Contacts", "layouts"])
        expectNoDifference(
            history.listing,
            """
            1  layouts
            2  find Contacts
            3  layouts
            4  create Contacts Name=canary

            """
        )
    }

    @Test func earlierLinesByTheirNumbers() throws {
        let history = ShellHistory(["layouts", "find Contacts"])
        expectNoDifference(try history.line(meantBy: "!!"), "find Contacts")
        expectNoDifference(try history.line(meantBy: " !1 "), "layouts")
        expectNoDifference(try history.line(meantBy: "find !1"), "find !1")
        for line in ["!0", "!3", "!99999999999999999999"] {
            let error = #expect(throws: CommandError.self) { try history.line(meantBy: line) }
            expectNoDifference(error, CommandError(#"There is no line \#(line): \s lists them."#, .usage))
        }
        #expect(throws: CommandError.self) { try ShellHistory().line(meantBy: "!!") }
    }

    @Test func theFileOfSeveralShells() {
        var history = ShellHistory(["old"])
        history.add("find Contacts 'Notes=two\nlines'", isKept: true)
        // Another shell has ended meanwhile, and something has damaged the file.
        let content = history.content(after: Data("\"old\"\n\"other\"\nnonsense\n".utf8))
        expectNoDifference(
            String(decoding: content, as: UTF8.self),
            """
            "old"
            "other"
            "find Contacts 'Notes=two\\nlines'"

            """
        )
        expectNoDifference(ShellHistory.lines(of: content), ["old", "other", "find Contacts 'Notes=two\nlines'"])
        let many = Data((1...2000).map { "\"\($0)\"\n" }.joined().utf8)
        #expect(ShellHistory.lines(of: history.content(after: many)).count == ShellHistory.capacity)
    }
}
