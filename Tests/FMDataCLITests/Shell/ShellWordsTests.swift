import CustomDump
import Testing

@testable import FMDataCLI

/// Lines of the shell: their words, and what they ask for.
struct ShellWordsTests {
    @Test(
        arguments: [
            ("", []), ("  find  Contacts\tCity=London ", ["find", "Contacts", "City=London"]),
            ("'Names / 100 %' x", ["Names / 100 %", "x"]), (#"Name="Ada \"A\" L\x""#, [#"Name=Ada "A" L\x"#]),
            (#"it\'s a\ b '' "#, ["it's", "a b", ""]), (#"'a'\''b'"#, ["a'b"]),
            ("Total>=100 $x", ["Total>=100", "$x"]),
            // The accent belongs to the quote as a character, and the quote still counts.
            ("'a'\u{301}", ["a\u{301}"]), (#"a\"#, [#"a\"#]), ("'two\nlines' b\nc", ["two\nlines", "b", "c"]),
        ] as [(String, [String])]
    )
    func words(_ line: String, _ words: [String]) {
        let read = ShellWords(line)
        expectNoDifference(read.texts, words)
        #expect(read.openQuote == nil)
    }

    @Test func aQuoteMayBeOpen() {
        #expect(ShellWords("create 'a").openQuote == "'")
        #expect(ShellWords("create \"a'").openQuote == "\"")
        #expect(ShellWords("find Con").endsInWord)
        #expect(!ShellWords("find ").endsInWord)
        #expect(ShellWords("find ''").endsInWord)
    }

    @Test(arguments: ["", "City", "a b", "it's", #"a\b"#, "\"", "größe=", "tab\tbed", "two\nlines"])
    func aQuotedTextIsOneWord(_ text: String) { expectNoDifference(ShellWords(ShellWords.quoted(text)).texts, [text]) }

    @Test(
        arguments: [
            ("", .nothing), ("  # a 'remark", .nothing), ("fmdata", .nothing),
            ("find Contacts '#Nr=3'", .commands([["find", "Contacts", "#Nr=3"]])),
            ("fmdata layouts --csv", .commands([["layouts", "--csv"]])), (#"\d"#, .commands([["layouts"]])),
            (#" \d 'A B'"#, .commands([["fields", "A B"], ["portals", "A B"]])), (#"\df"#, .commands([["scripts"]])),
            (#"\l"#, .commands([["databases"]])), (#"\x"#, .expanded(nil)), (#"\x on"#, .expanded(true)),
            (#"\timing off"#, .timing(false)), (#"\watch"#, .watch(2)), (#"\watch 0.5"#, .watch(0.5)),
            (#"\s"#, .history), (#"\?"#, .help), (#"\q"#, .quit), ("quit", .quit), ("exit", .quit),
        ] as [(String, ShellInstruction)]
    )
    func instructions(_ line: String, _ instruction: ShellInstruction) throws {
        expectNoDifference(try ShellInstruction(line), instruction)
    }

    @Test(
        arguments: [
            (#"\"#, #"There is no \: \? shows what there is."#),
            (#"\z 1"#, #"There is no \z: \? shows what there is."#),
            (#"\d A B"#, #"\d has another form: \? shows it. A name with spaces needs quotes."#),
            (#"\q now"#, #"\q has another form: \? shows it. A name with spaces needs quotes."#),
            (#"\x yes"#, #"\x takes on or off, or nothing."#), (#"\watch nan"#, #"\watch takes seconds, up to a day."#),
            (#"\watch -1"#, #"\watch takes seconds, up to a day."#),
        ]
    )
    func noInstructions(_ line: String, _ message: String) {
        let error = #expect(throws: CommandError.self) { try ShellInstruction(line) }
        expectNoDifference(error, CommandError(message, .usage))
    }

    @Test(
        arguments: [
            ("find Contacts City=London", true), (#"\d Contacts"#, true), ("export Contacts -o a.csv", true),
            ("help find", true), ("create Contacts Name=Ada", false), ("edit Contacts 1 Name=Ada", false),
            ("script Contacts Echo secret", false), ("globals Contacts::g=1", false), ("request GET x", false),
            ("nonsense", false),
        ]
    )
    func whatWritesIsNotKept(_ line: String, _ isKept: Bool) throws {
        #expect(try ShellInstruction(line).isKept == isKept)
    }
}
