import CustomDump
import Testing

@testable import FMDataCLI

/// Tables for people: widths, wide rows, and texts that would harm a terminal.
@Suite struct TablePrinterTests {
    private func table(
        _ columns: [OutputColumn],
        _ rows: [[String]],
        width: Int? = nil,
        hasStyles: Bool = false,
        isExpanded: Bool = false
    ) -> String {
        var printer = TablePrinter(
            columns,
            TerminalStyle(columns: width, hasStyles: hasStyles),
            isExpanded: isExpanded
        )
        return rows.reduce(into: "") { $0 += printer.text(of: OutputRow(cells: $1, object: .null)) } + printer.rest()
    }

    private static let columns = [OutputColumn("id", isNumber: true), OutputColumn("name"), OutputColumn("city")]

    @Test func columnsAreAsWideAsTheirValues() {
        expectNoDifference(
            table(Self.columns, [["1", "Ada", "London"], ["100", "Émilie", ""]]),
            """
             id  name    city
            ---  ------  ------
              1  Ada     London
            100  Émilie

            """
        )
        expectNoDifference(table(Self.columns, []), "")
    }

    @Test func eastAsianLettersAndEmojiTakeTwoColumns() {
        expectNoDifference(
            table(Self.columns, [["1", "山田太郎", "東京"], ["2", "👩‍💻 Zoé", "🇫🇷"], ["3", "e\u{301}", "한국"]]),
            """
            id  name      city
            --  --------  ----
             1  山田太郎  東京
             2  👩‍💻 Zoé    🇫🇷
             3  e\u{301}         한국

            """
        )
    }

    @Test(
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("\u{301}", 0), ("界", 2), ("ﾊ", 1), ("ハ", 2), ("！", 2), ("👍🏽", 2),
            ("👨‍👩‍👧", 2), ("❤️", 2), ("❤", 1), ("🇩🇪", 2), ("1️⃣", 2), ("한", 2), ("\u{1100}\u{1161}", 2), ("\u{200B}", 0),
            ("𠮷", 2), ("…", 1),
        ] as [(Character, Int)]
    )
    func widthsOfCharacters(_ character: Character, _ width: Int) {
        #expect(character.displayWidth == width, "\(character)")
    }

    @Test func longValuesAreCutBeforeTheTableBecomesLines() {
        let long = String(repeating: "x", count: 100)
        let cut = table(Self.columns, [["1", long, "London"]], width: 80)
        expectNoDifference(
            cut,
            """
            id  name                                              city
            --  ------------------------------------------------  ------
             1  \(String(repeating: "x", count: 47))…  London

            """
        )
        expectNoDifference(
            table(Self.columns, [["1", long, "London"]], width: 40),
            """
            id  name                      city
            --  ------------------------  ------
             1  \(String(repeating: "x", count: 23))…  London

            """
        )
        #expect("東京都".cut(to: 5) == "東京…")
        #expect("東京都".cut(to: 4) == "東…")
    }

    @Test func wideRowsHaveOneFieldPerLine() {
        expectNoDifference(
            table(Self.columns, [["1", "Ada\rLovelace", "London"], ["2", "", "Oslo"]], width: 20, isExpanded: false),
            """
            id    1
            name  Ada
                  Lovelace
            city  London

            id    2
            name
            city  Oslo

            """
        )
        expectNoDifference(
            table(Self.columns, [["1", "Ada", "London"]], width: 200, isExpanded: true),
            "id    1\nname  Ada\ncity  London\n"
        )
    }

    @Test func valuesDoNothingToTheTerminal() {
        expectNoDifference("a\u{1B}[2Jb\u{7}\u{9B}\u{202E}\tc\r\nd".visible, "a<1B>[2Jb<7><9B><202E> c↵d")
        let table = table(Self.columns, [["1", "\u{1B}]0;x\u{7}", "a\u{1B}[31m"]], isExpanded: true)
        #expect(!table.unicodeScalars.contains("\u{1B}"))
    }

    @Test func detailsStandBelowTheirRow() {
        var printer = TablePrinter([OutputColumn("name")], TerminalStyle(columns: 80, hasStyles: false))
        let detail = OutputRow.Detail(
            name: "Phones",
            columns: [OutputColumn("Kind"), OutputColumn("Number")],
            rows: [["work", "1"], ["home", "22"]]
        )
        let text = printer.text(of: OutputRow(cells: ["Ada"], object: .null, details: [detail])) + printer.rest()
        expectNoDifference(
            text,
            """
            name  Ada
            Phones
              Kind  Number
              ----  ------
              work  1
              home  22

            """
        )
    }

    @Test func treesAreIndented() {
        var printer = TablePrinter([OutputColumn("layout")], TerminalStyle(columns: 80, hasStyles: false))
        let rows = [("Admin/", 0), ("Users", 1)].map { OutputRow(cells: [$0], object: .null, depth: $1) }
        expectNoDifference(
            rows.reduce(into: "") { $0 += printer.text(of: $1) } + printer.rest(),
            "layout\n-------\nAdmin/\n  Users\n"
        )
    }

    /// The first rows decide; later ones are printed at once.
    @Test func laterRowsAreCutToTheWidthsOfTheFirst() {
        var printer = TablePrinter([OutputColumn("n")], TerminalStyle(columns: 80, hasStyles: false))
        var text = ""
        for number in 0..<TablePrinter.sampleSize {
            text += printer.text(of: OutputRow(cells: ["\(number)"], object: .null))
        }
        #expect(text.split(separator: "\n").count == TablePrinter.sampleSize + 2)
        expectNoDifference(printer.text(of: OutputRow(cells: ["12345"], object: .null)), "12…\n")
        expectNoDifference(printer.rest(), "")
    }

    // MARK: Styles

    @Test func stylesNeedATerminalThatWantsThem() {
        func styles(_ environment: [String: String], isTerminal: Bool = true) -> Bool {
            TerminalStyle(environment: environment, isTerminal: isTerminal, windowColumns: 100).hasStyles
        }
        #expect(styles([:]))
        #expect(!styles([:], isTerminal: false))
        #expect(!styles(["NO_COLOR": "1"]))
        #expect(styles(["NO_COLOR": ""]), "an empty one does not count")
        #expect(!styles(["TERM": "dumb"]))
        #expect(styles(["CLICOLOR_FORCE": "1"], isTerminal: false))
        #expect(!styles(["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], isTerminal: false))
    }

    @Test func theWidthIsThatOfTheWindow() {
        func columns(_ environment: [String: String], isTerminal: Bool = true, window: Int? = 100) -> Int? {
            TerminalStyle(environment: environment, isTerminal: isTerminal, windowColumns: window).columns
        }
        #expect(columns([:]) == 100)
        #expect(columns([:], window: nil) == 80)
        #expect(columns([:], isTerminal: false) == nil)
        #expect(columns(["COLUMNS": "60"]) == 60)
        #expect(columns(["COLUMNS": "wide"]) == 100)
    }
}
