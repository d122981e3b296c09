import CustomDump
import Testing

@testable import FMDataCLI

/// The line at the prompt: what the terminal hands over, and what is written for it.
struct ShellLineTests {
    private static let erase: UInt8 = 0x7F

    private func received(_ line: inout ShellLine, _ text: String) -> [ShellLine.Action] {
        line.received(Array(text.utf8), erase: Self.erase)
    }

    @Test func aLineIsRun() {
        var line = ShellLine(name: "World")
        expectNoDifference(line.begin(), [.write("World=> ")])
        expectNoDifference(received(&line, "layouts\n"), [.submit("layouts")])
        expectNoDifference(line.begin(), [.write("World=> ")])
        expectNoDifference(received(&line, ""), [.write("\n"), .end])
    }

    @Test func anOpenQuoteGoesOnInTheNextLine() {
        var line = ShellLine(name: "World")
        _ = line.begin()
        expectNoDifference(received(&line, "create Contacts 'Notes=two\n"), [.write("World'> ")])
        // There are no names in a text.
        expectNoDifference(received(&line, "a\t"), [.write("\r\u{1B}[JWorld'> a")])
        expectNoDifference(received(&line, "b'\n"), [.submit("create Contacts 'Notes=two\nab'")])
        _ = line.begin()
        expectNoDifference(received(&line, "# don't\n"), [.submit("# don't")])
        _ = line.begin()
        expectNoDifference(received(&line, "\\d 'x\n"), [.submit("\\d 'x")])
    }

    @Test func tabCompletes() {
        var line = ShellLine(name: "World")
        _ = line.begin()
        expectNoDifference(received(&line, "find \tCon\t"), [.complete("find Con")])
        expectNoDifference(
            line.completed(.init(line: "find Contacts ")),
            [.write("\r\u{1B}[JWorld=> find Contacts ")]
        )
        expectNoDifference(received(&line, "C\t"), [.complete("find Contacts C")])
        line.columns = 30
        expectNoDifference(
            line.completed(.init(line: "find Contacts C", candidates: ["City=", "Country="])),
            [.write("\nCity=     Country=\nWorld=> find Contacts C")]
        )
        expectNoDifference(received(&line, "x\t"), [.complete("find Contacts Cx")])
        expectNoDifference(
            line.completed(.init(line: "find Contacts Cx")),
            [.write("\u{7}"), .write("\r\u{1B}[JWorld=> find Contacts Cx")]
        )
        expectNoDifference(received(&line, "=1\n"), [.submit("find Contacts Cx=1")])
    }

    @Test func candidatesStandInColumns() {
        var line = ShellLine(name: "W")
        _ = line.begin()
        _ = received(&line, "\t")
        line.columns = 12
        let names = ["ab", "日本", "größe\u{1B}"]
        // The widest takes nine columns, so there is one in each line.
        expectNoDifference(
            line.completed(.init(line: "", candidates: names)),
            [.write("\nab\n日本\ngröße<1B>\nW=> ")]
        )
    }

    @Test func theEraseKeyAfterTab() {
        var line = ShellLine(name: "World")
        _ = line.begin()
        _ = received(&line, "find 日\t")
        _ = line.completed(.init(line: "find 日本"))
        expectNoDifference(received(&line, "x\u{7F}"), [.write("\r\u{1B}[JWorld=> find 日本")])
        expectNoDifference(received(&line, "\u{7F}"), [.write("\r\u{1B}[JWorld=> find 日")])
        expectNoDifference(line.taken, "find 日")
        for _ in 0..<6 { _ = received(&line, "\u{7F}") }
        expectNoDifference(line.taken, "")
    }

    /// The cursor stands in the last row of what is shown.
    @Test func aLineOfSeveralRowsIsDrawnFromItsFirst() {
        var line = ShellLine(name: "W")
        line.columns = 10
        _ = line.begin()
        _ = received(&line, "find 6789012345678\t")
        expectNoDifference(
            line.completed(.init(line: "find 67890123456789")),
            [.write("\u{1B}[2A\r\u{1B}[JW=> find 67890123456789")]
        )
    }

    @Test func aTerminalWithoutACursorGetsANewLine() {
        var line = ShellLine(name: "W", canErase: false)
        _ = line.begin()
        _ = received(&line, "lay\t")
        expectNoDifference(line.completed(.init(line: "layouts ")), [.write("\nW=> layouts ")])
    }

    @Test func ctrlDAfterText() {
        var line = ShellLine(name: "W")
        _ = line.begin()
        expectNoDifference(received(&line, "layo"), [])
        expectNoDifference(received(&line, ""), [.write("\u{7}")])
        expectNoDifference(received(&line, "uts\n"), [.submit("layouts")])
        _ = line.begin()
        _ = received(&line, "x")
        _ = received(&line, "")
        expectNoDifference(received(&line, ""), [.write("\n"), .end], "the terminal has gone")
    }

    @Test func ctrlCDropsTheLine() {
        var line = ShellLine(name: "W")
        _ = line.begin()
        _ = received(&line, "create 'a\n")
        _ = received(&line, "b\t")
        expectNoDifference(line.interrupted(), [.write("\n"), .write("W=> ")])
        expectNoDifference(received(&line, "layouts\n"), [.submit("layouts")])
    }

    @Test func arrowsAreNoText() {
        var line = ShellLine(name: "W")
        _ = line.begin()
        expectNoDifference(
            received(&line, "\u{1B}[A\n"),
            [
                .write(
                    "The terminal edits the line here, and has no arrows: !! repeats the last one, \\s lists all.\n"
                ),
                .write("W=> "),
            ]
        )
    }

    @Test func theNameDoesNothingToTheTerminal() {
        var line = ShellLine(name: "W\u{1B}[2J")
        expectNoDifference(line.begin(), [.write("W<1B>[2J=> ")])
    }
}
