import Testing

@testable import FMSandbox

@Suite struct ScriptTests {
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
}
