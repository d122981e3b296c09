import CustomDump
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct MetadataTests {
    @Test func fieldsArePrintedLikeTheRealOnes() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts")
            #expect(answer.response.object?.keys == ["fieldMetaData", "portalMetaData", "valueLists"])
            // This has the keys of a recorded layout's entry in the same order; only the value list differs.
            expectNoDifference(
                String(decoding: JSONWriter.write(answer.response["fieldMetaData"][4]), as: UTF8.self),
                #"""
                {"name":"Status","type":"normal","displayType":"popupMenu","result":"text","valueList":"Statuses",\#
                "global":false,"autoEnter":false,"fourDigitYear":false,"maxRepeat":1,"maxCharacters":0,"notEmpty":false,\#
                "numeric":false,"timeOfDay":false,"repetitionStart":1,"repetitionEnd":1}
                """#
            )
            let fields = answer.response["fieldMetaData"].array ?? []
            let results = Dictionary(uniqueKeysWithValues: fields.map { ($0["name"].string ?? "", $0["result"]) })
            #expect(results["CreatedAt"] == "timeStamp")
            #expect(results["Photo"] == "container")
            #expect(results["WakeUp"] == "time")
            let nicknames = fields.first { $0["name"] == "Nicknames" }
            #expect(nicknames?["maxRepeat"] == .int(3))
            #expect(nicknames?["repetitionEnd"] == .int(3))
            #expect(fields.first { $0["name"] == "Label" }?["type"] == "calculation")
            #expect(fields.first { $0["name"] == "gFilter" }?["global"] == true)
            let portal = answer.response["portalMetaData"]["Phones"]
            #expect(portal.array?.map { $0["name"] } == ["Phones::Kind", "Phones::Number"])
            #expect(answer.response["valueLists"].array?.map { $0["name"] } == ["Statuses", "Kinds"])
            expectNoDifference(
                answer.response["valueLists"][1],
                [
                    "name": "Kinds", "type": "customList",
                    "values": [
                        ["displayValue": "mobile", "value": "mobile"], ["displayValue": "work", "value": "work"],
                        ["displayValue": "home", "value": "home"],
                    ],
                ]
            )
        }
    }

    @Test func layoutsWithoutPortalsAndListsAreBare() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Phones")
            #expect(answer.response.object?.keys == ["fieldMetaData", "portalMetaData"])
            #expect(answer.response["portalMetaData"] == [:])
            #expect(try await bench.get("layouts/Nope").code == "105")
            #expect(try await bench.get("layouts/Phones", [("recordId", "99")]).code == "101")
        }
    }

    @Test func theOldFormIsKept() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/metadata")
            expectNoDifference(
                answer.response["metaData"][14],
                ["name": "gFilter", "type": "normal", "result": "text", "global": "true", "repetitions": .int(1)]
            )
        }
    }

    @Test func valueListsByFieldAreCurrentAndMayDependOnARecord() async throws {
        var solution = Solution.oneTable([.init("Key"), .init("Pick")], [.init(["Key": "1"]), .init(["Key": "2"])])
        solution.tables.append(
            .init(
                name: "Items",
                fields: [.init("Key"), .init("Name"), .init("Shown")],
                records: [("1", "b"), ("2", "c"), ("1", "a"), ("1", "b")].map {
                    .init(["Key": $0.0, "Name": $0.1, "Shown": "<\($0.1)>"])
                }
            )
        )
        solution.relationships = [.init("T", "Items", matches: [.init("Key", "Key")])]
        solution.valueLists = [
            .init(name: "All", field: "Items::Name", displayField: "Items::Shown"),
            .init(name: "Related", field: "Items::Name", relatedFrom: "T"),
        ]
        solution.layouts = [
            .layout(
                .init(
                    name: "L",
                    table: "T",
                    fields: [.init("Pick", valueList: "All"), .init("Key", valueList: "Related")]
                )
            )
        ]
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            func values(_ query: [(String, String)] = []) async throws -> [[JSONValue]] {
                let lists = try await bench.get("layouts/L", query).response["valueLists"].array ?? []
                #expect(lists.allSatisfy { $0["type"] == "byField" })
                return lists.map { $0["values"].array?.map { $0["value"] } ?? [] }
            }
            #expect(try await values() == [["a", "b", "c"], []])
            #expect(try await values([("recordId", "1")]) == [["a", "b", "c"], ["a", "b"]])
            #expect(try await values([("recordId", "2")]) == [["a", "b", "c"], ["c"]])
            let shown = try await bench.get("layouts/L").response["valueLists"][0]["values"][0]
            #expect(shown == ["displayValue": "<a>", "value": "a"])
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func separatorsAreScriptsAndLayoutsHaveNoIsFolder(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let scripts = try await bench.get("scripts").response["scripts"]
            #expect(scripts.array?.contains(["name": "-", "isFolder": false]) == true)
            let layouts = try await bench.get("layouts").response["layouts"]
            #expect(layouts[0] == ["name": "Countries", "table": "Country"])
        }
    }
}
