import CustomDump
import Testing

@testable import FMData

/// The fields of a type compared with those of a layout, by their names alone.
@Suite struct ModelFieldsTests {
    private struct Line: RecordFields {
        var article: String
        var price: FMNumber?
        var marks: [FMNumber?]

        enum CodingKeys: String, CodingKey, CaseIterable {
            case article = "Article"
            case price = "Preis €"
            case marks = "Marks"
        }
    }

    private func drift(
        _ shown: [String],
        _ keys: DecodingOptions.KeyStrategy = .exact
    ) -> (missing: [String], added: [String]) {
        let drift = ModelFields(Line.self).drift(from: "Lines", showing: shown, keys: keys)
        return (drift.missing, drift.added)
    }

    private func expect(
        _ drift: (missing: [String], added: [String]),
        missing: [String] = [],
        added: [String] = [],
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        expectNoDifference(drift.missing, missing, fileID: fileID, line: line)
        expectNoDifference(drift.added, added, fileID: fileID, line: line)
    }

    @Test func theSameFieldsInAnyOrderAreNoDrift() {
        expect(drift(["Marks", "Preis €", "Article"]))
    }

    @Test func whatOnlyOneOfThemHasIsNamed() {
        expect(drift(["Marks", "Price", "Article", "Note"]), missing: ["Preis €"], added: ["Price", "Note"])
    }

    @Test func repetitionsAreTheirField() {
        expect(drift(["Marks(2)", "Marks(3)", "Preis €", "Article", "Note(1)", "Note(2)"]), added: ["Note"])
    }

    @Test func parenthesesWithoutANumberArePartOfAName() {
        expect(
            drift(["Marks(x)", "Preis €", "Article", "()"]),
            missing: ["Marks"],
            added: ["Marks(x)", "()"]
        )
    }

    @Test func anAccentMayBeDecomposed() {
        struct Place: RecordFields {
            var name: String
            enum CodingKeys: String, CodingKey, CaseIterable { case name = "Caf\u{E9}" }
        }
        let drift = ModelFields(Place.self).drift(from: "L", showing: ["Cafe\u{301}"], keys: .exact)
        #expect(drift.isEmpty)
    }

    @Test func keysAreFoundAsTheDecoderFindsThem() {
        let related = ["Lines::Article", "Lines::Preis €", "Marks"]
        expect(drift(related), missing: ["Article", "Preis €"], added: ["Lines::Article", "Lines::Preis €"])
        expect(drift(related, .withoutTable))
        expect(
            drift(["ARTICLE", "Preis €", "Marks", "NOTE"], .custom { $0 == "ARTICLE" ? "Article" : $0 }),
            added: ["NOTE"]
        )
    }

    @Test func aTypeThatListsNoFieldsIsNotCompared() {
        struct Quiet: RecordFields {
            var name: String
            enum CodingKeys: String, CodingKey { case name = "Name" }
        }
        #expect(ModelFields(Quiet.self as Any.Type) == nil)
        #expect(ModelFields(FieldData.self as Any.Type) == nil)
        #expect(ModelFields([String: String].self as Any.Type) == nil)
        #expect(ModelFields(Line.self as Any.Type) != nil)
    }
}
