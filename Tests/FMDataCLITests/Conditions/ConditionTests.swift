import ArgumentParser
import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCLI

/// Conditions as people type them, and what FileMaker is asked.
@Suite struct ConditionTests {
    /// Fields as `name type`, or `name type repetitions`.
    static func fields(_ descriptions: String...) throws -> LayoutFields {
        let objects = descriptions.map { description in
            let parts = description.split(separator: "|").map(String.init)
            let repetitions = parts.count > 2 ? Int(parts[2]) ?? 1 : 1
            return #"{"name":"\#(parts[0])","type":"normal","result":"\#(parts[1])","maxRepeat":\#(repetitions),"#
                + #""repetitionStart":1,"repetitionEnd":\#(repetitions)}"#
        }
        let json = """
            {"fieldMetaData":[\(objects.joined(separator: ","))],
             "portalMetaData":{"Lines":[{"name":"Lines::Item","type":"normal","result":"text","maxRepeat":1}]}}
            """
        let metadata = try JSONDecoder().decode(DataAPI.Layout.LayoutMetaData.self, from: Data(json.utf8))
        return LayoutFields(metadata, of: "Orders")
    }

    private static func orders() throws -> LayoutFields {
        try fields(
            "City|text",
            "Total|number",
            "Date|date",
            "Time|time",
            "At|timeStamp",
            "Marks|number|3",
            "a=b|text",
            "Total %|number"
        )
    }

    private func requests(_ words: String..., options: [String] = []) throws -> [[String: String]] {
        let options = try FoundSetOptions.parse(["Orders"] + words + options)
        let find = try #require(try options.find(try Self.orders()))
        return DataAPI.FindQuery(find).query
    }

    @Test(
        arguments: [
            ("City=Calgary", ["City": "==Calgary"]),
            ("City = Calgary", ["City": "==Calgary"]),
            ("City=", ["City": "="]),
            ("City!=", ["City": "*"]),
            ("City=*@#", ["City": "==\\*\\@\\#"]),
            ("City=a...b", ["City": #"==a\.\.\.b"#]),
            ("City=a=b", ["City": #"==a\=b"#]),
            ("City^=Mc", ["City": "==Mc*"]),
            ("City$=burgh", ["City": "==*burgh"]),
            ("City*=in", ["City": "==*in*"]),
            ("City~=St John", ["City": "St John"]),
            ("a=b=c", ["a=b": "==c"]),
            ("Total>=100", ["Total": ">=100"]),
            ("Total<1.5", ["Total": "<1.5"]),
            ("Total=1...5", ["Total": "1...5"]),
            ("Total=...5", ["Total": "<=5"]),
            ("Total=5...", ["Total": ">=5"]),
            ("Total % > 3", ["Total %": ">3"]),
            ("Date=2026-11-01", ["Date": "==11/01/2026"]),
            ("Date=2026-11", ["Date": "11/01/2026...11/30/2026"]),
            ("Date=2026", ["Date": "01/01/2026...12/31/2026"]),
            ("Date=2024-02", ["Date": "02/01/2024...02/29/2024"]),
            ("Date=2026-12", ["Date": "12/01/2026...12/31/2026"]),
            ("Date=2026-11-01...2026-11-30", ["Date": "11/01/2026...11/30/2026"]),
            ("Date=2026-11...2027", ["Date": "11/01/2026...12/31/2027"]),
            ("Date>2026-11", ["Date": ">11/30/2026"]),
            ("Date<2026-11", ["Date": "<11/01/2026"]),
            ("Time=09:30", ["Time": "==09:30:00"]),
            ("At=2026-11-01T09:30:00", ["At": "==11/01/2026 09:30:00"]),
            ("At=2026-11-01", ["At": "11/01/2026 00:00:00...11/01/2026 23:59:59"]),
            ("At>=2026-11-01", ["At": ">=11/01/2026 00:00:00"]),
            ("Marks(2)=5", ["Marks(2)": "==5"]),
            ("Lines::Item=A-7", ["Lines::Item": "==A-7"]),
        ] as [(String, [String: String])]
    )
    func oneCondition(_ word: String, _ request: [String: String]) throws {
        expectNoDifference(try requests(word), [request])
    }

    @Test func orAndOmit() throws {
        expectNoDifference(
            try requests("City=Calgary", "Total>100", "--or", "City=Kiel", "--omit", "Total<0"),
            [["City": "==Calgary", "Total": ">100"], ["City": "==Kiel"], ["Total": "<0", "omit": "true"]]
        )
        expectNoDifference(
            try requests("--omit", "City=Kiel"),
            [["City": "==Kiel", "omit": "true"]]
        )
        let none = try FoundSetOptions.parse(["Orders"]).find(try Self.orders())
        #expect(none == nil)
    }

    @Test func rawCriteriaKeepTheirOperators() throws {
        expectNoDifference(try requests("City=Cal*", "Total>5", options: ["--raw"]), [["City": "Cal*", "Total": ">5"]])
        expectNoDifference(try requests("City===Calgary", options: ["--raw"]), [["City": "==Calgary"]])
    }

    @Test(
        arguments: [
            ("City", "Expected a condition such as City=Calgary"),
            ("=x", "Expected a condition"),
            ("Ctiy=x", #"The layout "Orders" shows no field "Ctiy". Did you mean "City"?"#),
            ("Street=x", #"The layout "Orders" shows no field "Street". It shows: At, City, Date"#),
            ("Total=many", #"Total: expected a number, found "many"."#),
            ("Date=11/01/2026", #"Date: expected a date such as 2026-11-01, 2026-11 or 2026, found "11/01/2026"."#),
            ("Date=2026-13", "Date: expected a date"),
            ("Date=2026-02...2026-01", "Date: the range ends before it begins."),
            ("Date=...", "Date: a range needs a value on one side of the dots."),
            ("Time=noon", "Time: expected a time such as 09:30:00"),
            ("At=now", "At: expected a timestamp such as 2026-11-01T09:30:00, or a date"),
            ("Total>", "Total>: a value is missing. Total= finds empty fields."),
        ]
    )
    func mistakesAreNamed(_ word: String, _ reason: String) throws {
        let fields = try Self.orders()
        let error = #expect(throws: CommandError.self) { try FoundSetOptions.parse(["Orders", word]).find(fields) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix(reason), "\(text)")
    }

    @Test func conditionsMayBeMissing() throws {
        let fields = try Self.orders()
        for words in [["City=a", "--or"], ["--omit"], ["--or"], ["City=a", "--or", "--omit", "City=b"]] {
            #expect(throws: CommandError.self) { try FoundSetOptions.parse(["Orders"] + words).find(fields) }
        }
    }

    @Test func unknownOptionsAreNoConditions() throws {
        let fields = try Self.orders()
        let error = #expect(throws: UnknownOption.self) {
            try FoundSetOptions.parse(["Orders", "City=a", "--rwa"]).find(fields)
        }
        #expect(error?.word == "--rwa")
        expectNoDifference(
            error?.message(for: FoundSetOptions.helpMessage()),
            "Unknown option '--rwa'. Did you mean '--raw'?"
        )
    }

    // MARK: Order

    private func order(_ words: String...) throws -> [DataAPI.SortQuery] {
        try FoundSetOptions.parse(["Orders"] + words.flatMap { ["--sort", $0] }).order(try Self.orders())
    }

    @Test func fieldsToSortBy() throws {
        expectNoDifference(
            try order("City,-Total", "+Date"),
            [
                DataAPI.SortQuery(fieldName: "City"), DataAPI.SortQuery(fieldName: "Total", sortOrder: .descending),
                DataAPI.SortQuery(fieldName: "Date"),
            ]
        )
        expectNoDifference(
            try order("City:Sizes"),
            [DataAPI.SortQuery(fieldName: "City", sortOrder: .valueList("Sizes"))]
        )
        #expect(throws: CommandError.self) { try order("Citi") }
    }
}
