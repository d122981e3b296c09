import CustomDump
import Foundation
import Testing

@testable import FMSandbox

/// The schema in the documentation has exactly the keys and values that the decoder knows.
@Suite struct SolutionSchemaTests {
    /// The code block of the article, parsed.
    private static func schema() throws -> JSONValue {
        let article = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/FMSandbox/FMSandbox.docc/SolutionSchema.md")
        let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```")
        #expect(parts.count == 3)
        return try JSONParser.parse(Array(parts[1].dropFirst("json".count).utf8))
    }

    /// The object form of a definition; some definitions also allow a plain name.
    private static func object(_ name: String, in schema: JSONValue) -> JSONValue {
        guard !name.isEmpty else { return schema }
        let definition = schema["$defs"][name]
        return definition["anyOf"].array?.first { $0["type"].string == "object" } ?? definition
    }

    private static func keys<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type) -> Set<String> {
        Set(keys.allCases.map(\.stringValue))
    }

    private static let known: [String: Set<String>] = [
        "": keys(Solution.CodingKeys.self),
        "table": keys(Solution.Table.CodingKeys.self),
        "field": keys(Solution.Field.CodingKeys.self),
        "autoEnter": keys(Solution.AutoEnter.CodingKeys.self),
        "summary": keys(Solution.Summary.CodingKeys.self),
        "validation": keys(Solution.Validation.CodingKeys.self),
        "occurrence": keys(Solution.Occurrence.CodingKeys.self),
        "relationship": keys(Solution.Relationship.CodingKeys.self),
        "match": keys(Solution.Relationship.Match.CodingKeys.self),
        "rules": keys(Solution.Relationship.Rules.CodingKeys.self),
        "sortOrder": keys(Solution.SortOrder.CodingKeys.self),
        "valueList": keys(Solution.ValueList.CodingKeys.self),
        "layout": keys(Solution.Layout.CodingKeys.self),
        "layoutFolder": keys(FolderKeys.self),
        "layoutField": keys(Solution.LayoutField.CodingKeys.self),
        "portal": keys(Solution.Portal.CodingKeys.self),
        "script": keys(Solution.Script.CodingKeys.self),
        "scriptFolder": keys(FolderKeys.self),
        "step": keys(Solution.Step.CodingKeys.self),
        "account": keys(Solution.Account.CodingKeys.self),
        "privilegeSet": keys(Solution.PrivilegeSet.CodingKeys.self),
        "dataSource": keys(Solution.DataSource.CodingKeys.self),
        "server": keys(Solution.Server.CodingKeys.self),
    ]

    @Test func theKeysAreThoseTheDecoderKnows() throws {
        let schema = try Self.schema()
        for (name, keys) in Self.known {
            let object = Self.object(name, in: schema)
            expectNoDifference(Set(object["properties"].object?.keys ?? []), keys, name)
            #expect(object["additionalProperties"] == false, "\(name)")
        }
        // The other keys of a record are field names, and an item is one of two definitions named above.
        let rest: Set = ["record", "layoutItem", "scriptItem", "quantity"]
        expectNoDifference(
            Set(schema["$defs"].object?.keys ?? []),
            Set(Self.known.keys).subtracting([""]).union(rest)
        )
    }

    @Test func theValuesAreThoseTheDecoderKnows() throws {
        let schema = try Self.schema()
        func values(_ name: String, _ key: String) -> [String] {
            Self.object(name, in: schema)["properties"][key]["enum"].array?.compactMap(\.string) ?? []
        }
        expectNoDifference(values("field", "type"), Solution.FieldType.allCases.map(\.rawValue))
        expectNoDifference(
            schema["$defs"]["autoEnter"]["anyOf"][0]["enum"].array?.compactMap(\.string),
            Solution.AutoEnter.Word.allCases.map(\.rawValue)
        )
        expectNoDifference(values("summary", "function"), Solution.Summary.Function.allCases.map(\.rawValue))
        expectNoDifference(values("match", "comparison"), Solution.Relationship.Comparison.allCases.map(\.rawValue))
        expectNoDifference(values("layout", "view"), Solution.Layout.View.allCases.map(\.rawValue))
        expectNoDifference(values("layoutField", "display"), Solution.LayoutField.Display.allCases.map(\.rawValue))
        expectNoDifference(values("account", "kind"), Solution.Account.Kind.allCases.map(\.rawValue))
        expectNoDifference(values("server", "findPastEnd"), Sandbox.FindPastEnd.allCases.map(\.rawValue))
        expectNoDifference(
            values("server", "dataSourceWithoutAccount"),
            Sandbox.DataSourceWithoutAccount.allCases.map(\.rawValue)
        )
        expectNoDifference(
            values("server", "isoTimestampSeparator"),
            Sandbox.ISOTimestampSeparator.allCases.map(\.rawValue)
        )
        expectNoDifference(values("server", "isoCriterionDates"), Sandbox.CriterionDates.allCases.map(\.rawValue))
        expectNoDifference(values("server", "portalFieldNames"), Sandbox.PortalFieldNames.allCases.map(\.rawValue))
        expectNoDifference(
            Self.object("server", in: schema)["properties"]["version"]["enum"],
            .array(Sandbox.ServerVersion.allCases.map { .int($0.rawValue) })
        )
    }

    @Test func everyReferenceLeadsSomewhere() throws {
        let schema = try Self.schema()
        func check(_ value: JSONValue) {
            for element in value.array ?? [] { check(element) }
            for member in value.object?.members ?? [] {
                if member.key == "$ref", let target = member.value.string {
                    #expect(schema["$defs"][String(target.dropFirst("#/$defs/".count))].object != nil, "\(target)")
                }
                check(member.value)
            }
        }
        check(schema)
    }

    /// The examples of the article can be read.
    @Test func theExamplesOfTheArticleAreRead() throws {
        let article = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/FMSandbox/FMSandbox.docc/SolutionFiles.md")
        let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```")
        let examples = stride(from: 1, to: parts.count, by: 2).map { Data(parts[$0].dropFirst("json".count).utf8) }
        #expect(examples.count == 4)
        let shop = try JSONDecoder().decode(Solution.self, from: examples[0])
        _ = try ModelBuilder.build([shop])
        var scripted = shop
        for example in examples[1...2] {
            scripted.scripts = try JSONDecoder().decode([Solution.ScriptItem].self, from: example)
            _ = try ModelBuilder.build([scripted])
        }
        let server = try JSONDecoder().decode(Solution.self, from: examples[3]).server
        #expect(server == .init(version: .v18, findPastEnd: .recordMissing, ignoresNameCase: true))
    }
}
