import CustomDump
import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite(.timeLimit(.minutes(15))) struct ScriptTests {
    @Test func resultsOfAllPhasesComeInTheirOrder() async throws {
        try await withBench { (bench: Bench) async throws in
            let query = [
                ("script", "Echo"), ("script.param", "after"), ("script.presort", "Echo"),
                ("script.presort.param", "sort"),
                ("script.prerequest", "Echo"), ("script.prerequest.param", "before"),
            ]
            let expected: JSONObject = [
                "scriptResult.prerequest": "before", "scriptError.prerequest": "0", "scriptResult.presort": "sort",
                "scriptError.presort": "0", "scriptResult": "after", "scriptError": "0",
            ]
            let read = try await bench.get("layouts/Contacts/records/1", query)
            #expect(read.response.object.map { Array($0.members.prefix(6)) } == expected.members)
            let deleted = try await bench.delete("layouts/Contacts/records/3", query)
            #expect(deleted.response == .object(expected))
            let body = JSONObject(members: query.map { .init(key: $0.0, value: .string($0.1)) })
            var create: JSONObject = ["fieldData": [:]]
            for member in body.members { create.append(member.key, member.value) }
            let created = try await bench.post("layouts/Contacts/records", .object(create))
            #expect(created.response.object?.keys == expected.keys + ["recordId", "modId"])
            let duplicate = try await bench.post("layouts/Contacts/records/1", .object(body))
            #expect(duplicate.response.object?.keys == expected.keys + ["recordId", "modId"])
            let inQuery = try await bench.post("layouts/Contacts/records/1?script=Echo&script.param=q")
            #expect(inQuery.response["scriptResult"] == "q")
            #expect(bench.engine.counters.scriptRuns == 13)
        }
    }

    @Test func scriptsRunByThemselves() async throws {
        try await withBench { (bench: Bench) async throws in
            let echo = try await bench.get("layouts/Contacts/script/Echo", [("script.param", "hi+ &")])
            #expect(echo.response == ["scriptResult": "hi+ &", "scriptError": "0"])
            #expect(try await bench.get("layouts/Contacts/script/Fail").response == ["scriptError": "5"])
            #expect(try await bench.get("layouts/Contacts/script/Visit%20All").response == ["scriptError": "101"])
            #expect(try await bench.get("layouts/Contacts/script/Count%20Found").response["scriptResult"] == "3")
            #expect(try await bench.get("layouts/Contacts/script/Nope").code == "104")
            #expect(try await bench.get("layouts/Nope/script/Echo").code == "105")
            #expect(try await bench.get("layouts/Contacts/script/Echo", [("script", "Echo")]).code == "960")
        }
    }

    @Test func aPresortScriptShapesTheFoundSet() async throws {
        try await withBench { (bench: Bench) async throws in
            let answer = try await bench.find(
                "Contacts",
                [["Name": "*"]],
                ["script.presort": "Keep Active", "sort": [["fieldName": "Name", "sortOrder": "descend"]]]
            )
            #expect(answer.recordIds == ["3", "1"])
            #expect(answer.response["dataInfo"]["foundCount"] == .int(2))
        }
    }

    @Test func anUnknownScriptStopsEverything() async throws {
        try await withBench { (bench: Bench) async throws in
            let new: JSONValue = ["fieldData": ["Name": "x"], "script": "Nope"]
            let answer = try await bench.post("layouts/Contacts/records", new)
            #expect(answer.status == 500)
            #expect(answer.code == "104")
            #expect(bench.engine.world.tables[2].records.count == 3)
        }
    }

    @Test func scriptsSetGlobalsOfTheirSession() async throws {
        try await withBench { (bench: Bench) async throws in
            _ = try await bench.get("layouts/Contacts/script/Set%20Filter", [("script.param", "seen")])
            #expect(try await bench.get("layouts/Contacts/records/1").fields["gFilter"] == "seen")
            let other = try await bench.loggedIn()
            #expect(try await other.get("layouts/Contacts/records/1").fields["gFilter"] == "")
        }
    }

    @Test func aScriptReturnsAResultAndAnError() async throws {
        let steps = #"""
            [{"name": "Both", "steps": [{"exit": "Get ( ScriptParameter ) & \"!\"", "error": 5}]},
             {"name": "Text", "steps": [{"template": "<<1 + 1>>", "error": "100 + 1"}]},
             {"name": "Late", "steps": [{"deleteRecord": true}, {"exit": "\"on\""}]},
             {"name": "Clean", "steps": [{"deleteRecord": true}, {"exit": "\"on\"", "error": 0}]}]
            """#
        var solution = Solution.oneTable([.init("A")])
        solution.scripts = try JSONDecoder().decode([Solution.ScriptItem].self, from: Data(steps.utf8))
        solution.addScript("Swift") { _ in ScriptResult(result: "both", error: 7) }
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            func run(_ script: String) async throws -> JSONValue {
                try await bench.get("layouts/L/script/\(script)", [("script.param", "p")]).response
            }
            #expect(try await run("Both") == ["scriptResult": "p!", "scriptError": "5"])
            #expect(try await run("Text") == ["scriptResult": "2", "scriptError": "101"])
            #expect(try await run("Late") == ["scriptResult": "on", "scriptError": "101"])
            #expect(try await run("Clean") == ["scriptResult": "on", "scriptError": "0"])
            #expect(try await run("Swift") == ["scriptResult": "both", "scriptError": "7"])
        }
    }

    /// A step has one meaning; one with two meanings is refused.
    @Test(arguments: [
        #"{"exit": "1", "wait": 5}"#, #"{"set": "$a", "to": "1", "error": 5}"#, #"{"loop": [], "if": "1"}"#,
        #"{"exit": "1", "template": "1"}"#, #"{"error": 5, "to": "1"}"#, #"{"to": "1"}"#, #"{"then": []}"#, "{}",
        #"{"newRecord": true, "deleteRecord": true}"#,
    ])
    func stepsThatSayTwoThingsAreRefused(_ step: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Solution.Step.self, from: Data(step.utf8))
        }
    }

    @Test(arguments: [
        Solution.Step.exit("1"), .exit("1", error: 5), .template("<<1>>", error: "$code"), .error(3),
    ])
    func stepsAreWrittenAsTheyAreRead(_ step: Solution.Step) throws {
        let data = try JSONEncoder().encode(step)
        expectNoDifference(try JSONDecoder().decode(Solution.Step.self, from: data), step)
    }

    @Test func stepsDoWhatTheySay() async throws {
        let steps: [Solution.Step] = [
            .set("$sum", to: "0"), .loop([.set("$sum", to: "$sum + N"), .set("N", to: "N * 10")]),
            .branch("$sum > 5", then: [.set("$word", to: "\"much\"")], else: [.set("$word", to: "\"little\"")]),
            .newRecord, .set("N", to: "99"), .constrain("N > 15"),
            .exit("$word & \" \" & $sum & \" \" & Get ( FoundCount )"),
        ]
        let solution = Solution.oneTable(
            [.init("N", .number)],
            ["1", "2", "3"].map { .init(["N": $0]) },
            scripts: [
                .script(.init(name: "Work", steps: steps)),
                .script(
                    .init(name: "Clear", steps: [.showAll, .loop([.deleteRecord]), .exit("Get ( TotalRecordCount )")])
                ),
                .script(.init(name: "Lost", steps: [.set("Nope", to: "1")])),
            ]
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let work = try await bench.get("layouts/L/script/Work")
            #expect(work.response == ["scriptResult": "much 6 3", "scriptError": "0"])
            #expect(try await bench.get("layouts/L/records").column("N") == ["10", "20", "30", "99"])
            #expect(try await bench.get("layouts/L/script/Lost").response == ["scriptError": "102"])
            #expect(try await bench.get("layouts/L/script/Clear").response["scriptResult"] == "0")
        }
    }

    @Test func closuresReachTheContext() async throws {
        struct Odd: Error {}
        var solution = Solution.sample
        solution.addScript("Tour") { context in
            #expect(context.layout == "Contacts")
            #expect(context.account == "admin")
            #expect(context.foundSet == [1])
            #expect(try context.value("Name") == "Ada Lovelace")
            #expect(try context.value("Nicknames(2)") == "Enchantress of Numbers")
            #expect(try context.value("Phones::Kind") == "work")
            #expect(throws: FileMakerError(102)) { try context.value("Nope") }
            #expect(throws: FileMakerError(101)) { try context.value("Name", of: 99) }
            try context.set("City", to: "Bath")
            try context.set("Contacts::gFilter", to: "g")
            #expect(try context.createRecord(["Name": "New"]) == 4)
            try context.goToLayout("Zones")
            #expect(context.foundSet.count == 312)
            try context.goToLayout("Contacts")
            context.foundSet = [4, 1]
            return .result(context.parameter)
        }
        solution.addScript("Odd") { _ in throw Odd() }
        solution.addScript("Denied") { context in
            try context.set("Status", to: "odd")
            return .none
        }
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records/1", [("script", "Tour"), ("script.param", "p")])
            #expect(answer.response["scriptResult"] == "p")
            #expect(answer.recordIds == ["4", "1"])
            #expect(answer.column("City") == ["", "Bath"])
            #expect(answer.column("gFilter") == ["g", "g"])
            #expect(try await bench.get("layouts/Contacts/script/Odd").response == ["scriptError": "-1"])
            #expect(try await bench.get("layouts/Contacts/script/Denied").response == ["scriptError": "506"])
            #expect(try await bench.get("scripts").text.contains(#"{"name":"Tour","isFolder":false}"#))
        }
    }

    @Test func aScriptThatLeavesForAnotherLayoutTakesTheAnswerAlong() async throws {
        var solution = Solution.sample
        solution.scripts.append(.script(.init(name: "Leave", steps: [.goToLayout("Zones")])))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let answer = try await bench.get("layouts/Contacts/records", [("script", "Leave"), ("_limit", "1")])
            #expect(answer.response["dataInfo"]["layout"] == "Zones")
            #expect(answer.fields["Name"] == "Europe/Andorra")
        }
    }

    // MARK: Scripts declared in data

    /// A solution with one table of numbers and scripts with the given steps.
    private func numbers(_ scripts: [String: [Solution.Step]]) -> Solution {
        .oneTable(
            [.init("N", .number), .init("gN", .number, isGlobal: true)],
            ["1", "2", "3"].map { .init(["N": $0]) },
            scripts: scripts.sorted { $0.key < $1.key }.map { .script(.init(name: $0.key, steps: $0.value)) }
        )
    }

    @Test func templatesAreTextsWithFormulasInThem() async throws {
        let solution = numbers([
            "Mixed": [.template("<<Get ( ScriptParameter )>> of <<Get ( FoundCount )>>: <<N * 2>>!")],
            "Plain": [.template("nothing to work out")], "Empty": [.template("")],
            "Quotes": [.template(#"{"n":<<N>>,"name":"<<"a" & "b">>"}"#)],
        ])
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let mixed = try await bench.get("layouts/L/script/Mixed", [("script.param", "one")])
            #expect(mixed.response == ["scriptResult": "one of 3: 2!", "scriptError": "0"])
            let plain = try await bench.get("layouts/L/script/Plain")
            #expect(plain.response["scriptResult"] == "nothing to work out")
            #expect(try await bench.get("layouts/L/script/Empty").response == ["scriptError": "0"])
            let quotes = try await bench.get("layouts/L/script/Quotes")
            #expect(quotes.response["scriptResult"] == #"{"n":1,"name":"ab"}"#)
        }
    }

    @Test func errorsMayBeNumbersAndFormulas() async throws {
        let solution = numbers([
            "Five": [.error(5), .exit("\"never\"")], "Parameter": [.error("Get ( ScriptParameter )")],
            "Sum": [.error("100 + N")], "Branch": [.branch("N = 1", then: [.error("401")], else: [])],
        ])
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            for (script, parameter, error) in [
                ("Five", "", "5"), ("Parameter", "301", "301"), ("Parameter", "-1", "-1"), ("Parameter", "", "-1"),
                ("Parameter", "none", "-1"), ("Parameter", "1e300", "-1"), ("Sum", "", "101"), ("Branch", "", "401"),
            ] {
                let answer = try await bench.get("layouts/L/script/\(script)", [("script.param", parameter)])
                #expect(answer.status == 200)
                #expect(answer.response == ["scriptError": .string(error)])
            }
        }
    }

    @Test func waitsMayBeNumbersAndFormulas() async throws {
        let solution = numbers([
            "Fixed": [.wait(1.5), .exit("\"done\"")],
            "Parameter": [.wait("Get ( ScriptParameter )"), .exit("\"done\"")],
        ])
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            for (script, parameter, seconds) in [
                ("Fixed", "", 1.5), ("Parameter", "0.25", 0.25), ("Parameter", "7", 7), ("Parameter", "1e9", 86_400),
            ] {
                async let answer = bench.get("layouts/L/script/\(script)", [("script.param", parameter)])
                await bench.clock.untilWaiting()
                bench.clock.advance(by: .seconds(seconds - 0.125))
                #expect(bench.clock.waitingCount == 1)
                bench.clock.advance(by: .seconds(0.125))
                #expect(try await answer.response["scriptResult"] == "done")
            }
            // A parameter that is not a valid duration does not wait.
            for parameter in ["", "-5", "soon"] {
                let answer = try await bench.get("layouts/L/script/Parameter", [("script.param", parameter)])
                #expect(answer.response["scriptResult"] == "done")
            }
        }
    }

    @Test func theSampleIsWhollyInItsFile() async throws {
        #expect(Solution.sample.handlers.isEmpty)
        try await withBench { (bench: Bench) async throws in
            let failure = try await bench.get("layouts/Contacts/script/Fail%20With", [("script.param", "301")])
            #expect(failure.response == ["scriptError": "301"])
            for (parameter, seconds) in [("", 1), ("x", 0), ("2", 2), ("99999", 3600)] {
                async let answer = bench.get("layouts/Contacts/script/Wait", [("script.param", parameter)])
                if seconds > 0 {
                    await bench.clock.untilWaiting()
                    bench.clock.advance(by: .seconds(seconds - 1))
                    #expect(bench.clock.waitingCount == 1)
                    bench.clock.advance(by: .seconds(1))
                }
                #expect(try await answer.response == ["scriptResult": "waited", "scriptError": "0"])
            }
        }
    }

    @Test func formulasKnowDataInfoAndPortals() async throws {
        var solution = Solution.sample
        solution.scripts.append(
            .script(.init(name: "Info", steps: [.template("[<<Get ( DataInfo )>>,<<Get ( PortalDataInfo )>>]")]))
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["Name": "*"]], ["script": "Info"])
            let info = try JSONParser.parse(Array((answer.response["scriptResult"].string ?? "").utf8))
            var expected = answer.response["dataInfo"].object
            expected?["returnedCount"] = nil
            #expect(info[0].object == expected)
            var portal = answer.response["data"][0]["portalDataInfo"][0].object
            portal?["returnedCount"] = nil
            #expect(info[1] == .array([.object(portal ?? [:])]))
        }
    }

    @Test(.thorough) func aScriptWithoutEndIsStopped() async throws {
        let forever: [Solution.Step] = [.loop([.loop([.loop([.loop([.loop([.loop([.loop([])])])])])])])]
        let solution = Solution.oneTable(
            [.init("N", .number)],
            (0..<100).map { .init(["N": "\($0)"]) },
            scripts: [
                .script(.init(name: "Forever", steps: forever)),
                .script(
                    .init(
                        name: "Grow",
                        steps: [
                            .set("$x", to: "\"xxxxxxxx\""), .loop([.set("$x", to: "$x & $x")]), .exit("Length ( $x )"),
                        ]
                    )
                ),
            ]
        )
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            #expect(try await bench.get("layouts/L/script/Forever").response == ["scriptError": "3"])
            // A text that is doubled a hundred times stops growing: it becomes `?`, which is then doubled again.
            let grown = try await bench.get("layouts/L/script/Grow").response["scriptResult"].string.flatMap(Int.init)
            #expect(try #require(grown) <= 1 << 24)
        }
    }

    // MARK: What is kept in a session

    @Test func foundSetsAndVariablesStayWithTheSession() async throws {
        var solution = numbers([
            "Big": [.constrain("N > 1")], "Count": [.exit("Get ( FoundCount )")], "All": [.showAll],
            "Remember": [.set("$$n", to: "Get ( ScriptParameter )"), .set("$n", to: "1")],
            "Recall": [.exit("$$n & \"/\" & $n")],
        ])
        solution.tables.append(.init(name: "Other", fields: [.init("X")], records: [.init(["X": "x"])]))
        solution.layouts.append(.layout(.init(name: "Other", table: "Other", fields: ["X"])))
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            func run(_ script: String, on layout: String = "L", as bench: Bench) async throws -> String? {
                let target = "layouts/\(layout)/script/\(script)"
                return try await bench.get(target, [("script.param", "7")]).response["scriptResult"].string
            }
            let other = try await bench.loggedIn()
            #expect(try await run("Count", as: bench) == "3")
            _ = try await run("Big", as: bench)
            #expect(try await run("Count", as: bench) == "2")
            #expect(try await run("Count", as: other) == "3")
            #expect(try await run("Count", on: "Other", as: bench) == "1")
            // A script before the request still sees the old found set. Then a find makes a new one, and a range shows
            // all records.
            let find = try await bench.find("L", [["N": "1"]], ["script.prerequest": "Count", "script": "Count"])
            #expect(find.response["scriptResult.prerequest"] == "2")
            #expect(find.response["scriptResult"] == "1")
            #expect(try await run("Count", as: bench) == "1")
            _ = try await bench.get("layouts/L/records/3")
            #expect(try await run("Count", as: bench) == "1")
            _ = try await bench.delete("layouts/L/records/1")
            #expect(try await run("Count", as: bench) == "0")
            _ = try await bench.get("layouts/L/records")
            #expect(try await run("Count", as: bench) == "2")
            // "All records" includes records that are created later.
            _ = try await run("All", as: bench)
            _ = try await bench.post("layouts/L/records", ["fieldData": [:]])
            #expect(try await run("Count", as: bench) == "3")

            _ = try await run("Remember", as: bench)
            #expect(try await run("Recall", as: bench) == "7/")
            #expect(try await run("Recall", as: other) == "/")
        }
    }

    @Test func aLayoutThatAScriptComesBackToHasItsFoundSet() async throws {
        var solution = Solution.sample
        solution.addScript("Away and Back") { context in
            try context.goToLayout("Zones")
            try context.goToLayout("Contacts")
            return .result("\(context.foundSet)")
        }
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let answer = try await bench.find("Contacts", [["City": "Paris"]], ["script": "Away and Back"])
            #expect(answer.response["scriptResult"] == "[2]")
            #expect(answer.recordIds == ["2"])
        }
    }

    /// Each script sees the result of the step before it: nothing found yet, found, sorted.
    @Test func thePhasesStandWhereTheGuideSaysTheyDo() async throws {
        var solution = Solution.sample
        solution.addScript("See") { context in
            .result("\(context.foundSet.map(String.init).joined()) \(try context.value("City"))")
        }
        solution.addScript("Move") { context in
            try context.set("City", to: "Aachen", of: 3)
            return .result("\(context.foundSet.map(String.init).joined())")
        }
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let sort: JSONValue = [["fieldName": "City"]]
            let answer = try await bench.find(
                "Contacts",
                [["City": "Aachen"], ["City": "London"]],
                ["script.prerequest": "Move", "script.presort": "See", "script": "See", "sort": sort, "limit": "1"]
            )
            // The record is found only because the script before the request changed its city.
            #expect(answer.response["scriptResult.prerequest"] == "123")
            #expect(answer.response["scriptResult.presort"] == "13 London")
            #expect(answer.response["scriptResult"] == "31 Aachen")
            // Offset and limit are applied last.
            #expect(answer.recordIds == ["3"])
            #expect(answer.response["dataInfo"]["foundCount"] == .int(2))
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func resultsComeFirstAndAFailingScriptIsNoFailure(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let answer = try await bench.find(
                "Contacts",
                [["Name": "Ada"]],
                ["script": "Echo", "script.param": "hello", "script.presort": "Fail"]
            )
            #expect(answer.status == 200)
            #expect(answer.code == "0")
            #expect(
                answer.response.object?.keys == [
                    "scriptError.presort", "scriptResult", "scriptError", "dataInfo", "data",
                ]
            )
            #expect(answer.response["scriptResult"] == "hello")
            #expect(answer.response["scriptError"] == "0")
            #expect(answer.response["scriptError.presort"] == "5")
        }
    }

    @Test(.tags(.openQuestion)) func anUnknownScriptIs104() async throws {
        try await withBench { (bench: Bench) async throws in
            let run = try await bench.get("layouts/Contacts/script/Nope")
            let edit = try await bench.patch(
                "layouts/Contacts/records/1",
                ["fieldData": ["City": "x"], "script": "Nope"]
            )
            for answer in [run, edit] {
                #expect(answer.status == 500)
                #expect(answer.code == "104")
            }
            #expect(try await bench.get("layouts/Contacts/records/1").fields["City"] == "London")
        }
    }
}
