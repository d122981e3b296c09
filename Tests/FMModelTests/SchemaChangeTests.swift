import CustomDump
import Foundation
import Testing

@testable import FMModel

/// Changes of layouts, described in words.
@Suite struct SchemaChangeTests {
    private func changes(_ old: LayoutDescription, _ new: LayoutDescription) -> [String] {
        let before = LayoutSnapshot.updating([], with: [old]).layouts
        let after = LayoutSnapshot.updating(before, with: [new]).layouts
        return SchemaChange.changes(from: before, to: after).map(\.text)
    }

    private func change(_ edit: (inout FieldDescription) -> Void) -> [String] {
        changes(
            LayoutDescription(name: "L", fields: [.made("Total")]),
            LayoutDescription(name: "L", fields: [.made("Total", edit)])
        )
    }

    @Test func whatMayBreakAProgramIsMarked() {
        expectNoDifference(
            change { $0.kind = "calculation" },
            [
                #"~ field "Total": normal → calculation, no longer writable  [breaking]"#
            ]
        )
        expectNoDifference(change { $0.result = "number" }, [#"~ field "Total": text → number  [breaking]"#])
        expectNoDifference(change { $0.isNotEmpty = true }, [#"~ field "Total": may be empty → must not be empty"#])
        expectNoDifference(
            change {
                $0.repetitions = 3
                $0.shown = 1...3
            },
            [#"~ field "Total": repetition 1 → repetitions 1 to 3, 1 repetitions → 3 repetitions  [breaking]"#]
        )
        expectNoDifference(
            change { $0.maxCharacters = 20 },
            [
                #"~ field "Total": any number of characters → 20 characters at most"#
            ]
        )
        expectNoDifference(change { _ in }, [])
    }

    @Test func aRenameIsSuggestedAndNotMade() {
        let old = LayoutDescription(name: "L", fields: [.made("A"), .made("Groesse"), .made("Z")])
        let new = LayoutDescription(name: "L", fields: [.made("A"), .made("Größe"), .made("Z")])
        expectNoDifference(
            changes(old, new),
            [#"- field "Groesse": perhaps it is called "Größe" now  [breaking]"#, #"+ field "Größe": text"#]
        )
        let other = LayoutDescription(name: "L", fields: [.made("A"), .made("Z"), .made("Größe")])
        expectNoDifference(changes(old, other), [#"- field "Groesse"  [breaking]"#, #"+ field "Größe": text"#])
    }

    @Test func portalsAndTheirFields() {
        let old = LayoutDescription(
            name: "L",
            fields: [],
            portals: [.init(name: "P", fields: [.made("P::a")]), .init(name: "Q", fields: [])]
        )
        let new = LayoutDescription(
            name: "L",
            fields: [],
            portals: [.init(name: "P", fields: [.made("P::a"), .made("P::b")]), .init(name: "R", fields: [])]
        )
        expectNoDifference(
            changes(old, new),
            [#"- portal "Q"  [breaking]"#, #"+ field "P › P::b": text"#, #"+ portal "R""#]
        )
    }

    @Test func valuesOfLists() {
        func layout(_ values: [String], isCustom: Bool = true) -> LayoutDescription {
            let field = FieldDescription.made("F") {
                $0.display = "popupMenu"
                $0.valueList = "V"
            }
            return LayoutDescription(
                name: "L",
                fields: [field],
                valueLists: [.init(name: "V", isCustom: isCustom, values: values)]
            )
        }
        expectNoDifference(
            changes(layout(["a", "b"]), layout(["b", "c"])),
            [#"- value "V › a"  [breaking]"#, #"+ value "V › c""#]
        )
        expectNoDifference(changes(layout(["a", "b"]), layout(["b", "a"])), [#"~ value list "V": another order"#])
        expectNoDifference(
            changes(layout(["a"]), layout(["a"], isCustom: false)),
            [#"- value list "V": no type any more  [breaking]"#]
        )
    }

    @Test func wholeLayouts() {
        let layouts = LayoutSnapshot.updating(
            [],
            with: ["A", "Orders"].map { LayoutDescription(name: $0, fields: []) }
        )
        .layouts
        expectNoDifference(
            SchemaChange.changes(from: [layouts[0]], to: [layouts[1]]).map(\.text),
            [#"- layout "A"  [breaking]"#, #"+ layout "Orders": type Order"#]
        )
    }

    // MARK: Line by line

    @Test func linesAsDiffShowsThem() {
        let old = (1...12).map(String.init).joined(separator: "\n") + "\n"
        let new = old.replacingOccurrences(of: "2\n", with: "two\n").replacingOccurrences(of: "11\n", with: "")
        expectNoDifference(
            LineDifference("f", old: old, new: new).text,
            """
            --- a/f
            +++ b/f
            @@ -1,5 +1,5 @@
             1
            -2
            +two
             3
             4
             5
            @@ -8,5 +8,4 @@
             8
             9
             10
            -11
            -12
            +1two

            """
        )
        expectNoDifference(LineDifference("f", old: old, new: old).text, "")
    }

    @Test func aFileThatIsNewOrGone() {
        expectNoDifference(
            LineDifference("f", old: nil, new: "a\nb\n").text,
            "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        )
        expectNoDifference(
            LineDifference("f", old: "a\n", new: nil).text,
            "--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"
        )
    }
}
