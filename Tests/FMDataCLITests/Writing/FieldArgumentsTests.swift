import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCLI

/// Values of writes as people type them.
@Suite struct FieldArgumentsTests {
    private func values(_ words: String..., files: [String: String] = [:]) throws -> FieldArguments {
        let fields = try ConditionTests.fields(
            "Name|text",
            "Total|number",
            "Born|date",
            "At|timeStamp",
            "Wake|time",
            "Nick|text|3",
            "a=b|text"
        )
        return try FieldArguments(words, fields) { path in
            guard let text = files[path] else { throw CommandError("cannot read \(path)") }
            return Data(text.utf8)
        }
    }

    @Test func textsNumbersAndDates() throws {
        let arguments = try values(
            "Name=Ada = Lovelace",
            "Total=12.50",
            "Born=1815-12-10",
            "At=2026-11-01 09:30:00",
            "Wake=06:30",
            "a=b=c"
        )
        expectNoDifference(
            arguments.fields,
            [
                "Name": "Ada = Lovelace", "Total": .number(12.50), "Born": "12/10/1815", "At": "11/01/2026 09:30:00",
                "Wake": "06:30:00", "a=b": "c",
            ]
        )
        expectNoDifference(arguments.fields["Total"]?.text, "12.50")
    }

    @Test func emptyAndOddValues() throws {
        let fields = try values("Name=", "Total=about 5", "Born=", "Nick(2)=Countess").fields
        expectNoDifference(fields, ["Name": "", "Total": "about 5", "Born": "", "Nick(2)": "Countess"])
    }

    @Test func json() throws {
        let fields = try values(
            #"Name:="@home""#,
            "Total:=9007199254740993",
            "Born:=\"1815-12-10\"",
            #"Nick:=["a", "b", ""]"#
        ).fields
        expectNoDifference(
            fields,
            [
                "Name": "@home", "Total": 9_007_199_254_740_993, "Born": "12/10/1815", "Nick(1)": "a", "Nick(2)": "b",
                "Nick(3)": "",
            ]
        )
    }

    @Test func files() throws {
        let files = [
            "notes.txt": "two\nlines\n", "-": #"{"Name": "Ada", "Born": "1815-12-10"}"#,
            "record.json":
                #"{"recordId": 7, "fieldData": {"Total": 1.50}, "portalData": {"Lines": [{"recordId": 3, "Lines::Item": "A"}]}}"#,
        ]
        expectNoDifference(try values("Name=@notes.txt", files: files).fields, ["Name": "two\rlines"])
        expectNoDifference(try values("-", files: files).fields, ["Name": "Ada", "Born": "12/10/1815"])
        let record = try values("@record.json", "Name=Eve", files: files)
        expectNoDifference(record.fields, ["Total": 1.50, "Name": "Eve"])
        expectNoDifference(record.fields["Total"]?.text, "1.50")
        expectNoDifference(record.portals, ["Lines": [["recordId": 3, "Lines::Item": "A"]]])
    }

    @Test(
        arguments: [
            ("Name", "Expected a value such as City=Calgary"),
            ("Nmae=x", #"The layout "Orders" shows no field "Nmae". Did you mean "Name"?"#),
            ("Born=12/10/1815", #"Born: expected a date such as 2026-11-01, found "12/10/1815"."#),
            ("Wake=noon", "Wake: expected a time"),
            ("At=now", "At: expected a timestamp"),
            ("Name:=Ada", "Name: expected a text, a number or a list of them as JSON."),
            (#"Name:={"a":1}"#, "Name: expected a text"),
            ("@list.json", "@list.json: expected a JSON object of fields and their values."),
            ("@nowhere", "cannot read nowhere"),
            ("@portal.json", #"The layout "Orders" shows no portal "Line". Did you mean "Lines"?"#),
        ]
    )
    func mistakesAreNamed(_ word: String, _ reason: String) throws {
        let files = ["list.json": "[1]", "portal.json": #"{"fieldData": {}, "portalData": {"Line": []}}"#]
        let error = #expect(throws: CommandError.self) { try values(word, files: files) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix(reason), "\(text)")
    }
}
