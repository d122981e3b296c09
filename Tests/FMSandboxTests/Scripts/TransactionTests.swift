import CustomDump
import Foundation
import Testing

@testable import FMSandbox

/// Open, commit and revert transaction: what the script sees, what other sessions see, and what remains.
@Suite(.timeLimit(.minutes(15))) struct TransactionTests {
    /// Two stock items with a serial number, a unique name, auto-entered values and a calculation, and an empty log.
    private func solution(
        _ scripts: [String: [Solution.Step]],
        _ change: (inout Solution) -> Void = { _ in }
    ) -> Solution {
        var solution = Solution(
            name: "Stock",
            tables: [
                .init(
                    name: "Items",
                    fields: [
                        .init("Id", .number, autoEnter: .serial),
                        .init("Name", validation: .init(unique: true, maxCharacters: 10)),
                        .init("Count", .number, validation: .init(minimum: "0")),
                        .init("State", autoEnter: .constant("new")),
                        .init("Label", autoEnter: .calculation("Upper ( Name )", replacesExisting: true)),
                    ],
                    records: [
                        .init(recordId: 1, ["Id": "1", "Name": "Tea", "Count": "5"]),
                        .init(recordId: 2, ["Id": "2", "Name": "Milk", "Count": "7"]),
                    ]
                ),
                .init(name: "Log", fields: [.init("Text")]),
            ],
            layouts: [
                .layout(.init(name: "Items", table: "Items", fields: ["Id", "Name", "Count", "State", "Label"])),
                .layout(.init(name: "Log", table: "Log", fields: ["Text"])),
            ],
            scripts: scripts.sorted { $0.key < $1.key }.map { .script(.init(name: $0.key, steps: $0.value)) },
            accounts: [
                .init(name: "admin", password: "secret"),
                .init(name: "clerk", password: "secret", privilegeSet: "Clerk"),
            ]
        )
        solution.privilegeSets = [.init(name: "Clerk", canCreate: false)]
        change(&solution)
        return solution
    }

    /// Runs scripts one after the other on the layout of the items, and passes their answers to `check`.
    private func run(
        _ scripts: [String: [Solution.Step]],
        _ names: [String] = ["A"],
        _ check: (Bench, [JSONValue]) async throws -> Void
    ) async throws {
        try await withBench(.inProcess, [solution(scripts)]) { (bench: Bench) async throws in
            var answers: [JSONValue] = []
            for name in names { answers.append(try await bench.get("layouts/Items/script/\(name)").response) }
            try await check(bench, answers)
            expectNoDifference(bench.engine.world.locks, [:])
        }
    }

    private func answer(_ result: String? = nil, _ error: Int = 0) -> JSONValue {
        var object = JSONObject()
        if let result { object.append("scriptResult", .string(result)) }
        object.append("scriptError", .string(String(error)))
        return .object(object)
    }

    private static func add(_ name: String, _ count: Int = 1) -> [Solution.Step] {
        [.newRecord, .set("Name", to: "\"\(name)\""), .set("Count", to: "\(count)")]
    }

    private static func inTransaction(_ steps: [Solution.Step]) -> [Solution.Step] {
        [.openTransaction] + steps + [.commitTransaction]
    }

    // MARK: All or nothing

    @Test func whatIsCommittedIsThere() async throws {
        let steps = Self.inTransaction(
            Self.add("Salt") + [
                .goToListOfRecords("1"), .set("Count", to: "Count + 1"), .set("Count", to: "Count + 1"),
                .goToListOfRecords("2"), .deleteRecord, .goToLayout("Log"), .newRecord, .set("Text", to: "\"done\""),
            ]
        )
        try await run(["A": steps]) { (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer()])
            let items = try await bench.get("layouts/Items/records")
            expectNoDifference(items.recordIds, ["1", "3"])
            expectNoDifference(items.column("Count"), ["7", "1"])
            // A commit increments a changed record's modId once, and a new record's not at all.
            expectNoDifference(items.response["data"].array?.map { $0["modId"].string }, ["1", "0"])
            #expect(try await bench.get("layouts/Log/records").column("Text") == ["done"])
        }
    }

    @Test func whatIsRevertedHasNotHappened() async throws {
        let steps =
            Self.inTransaction(
                Self.add("Salt") + [
                    .goToListOfRecords("1"), .set("Count", to: "0"), .goToListOfRecords("2"), .deleteRecord,
                    .revertTransaction(error: 5001), .goToLayout("Log"), .newRecord,
                ]
            ) + [.exit("Get ( FoundCount ) & Get ( TransactionOpenState )", error: "Get ( LastError )")]
        try await run(["A": steps]) { (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer("00", 5001)])
            let items = try await bench.get("layouts/Items/records")
            expectNoDifference(items.column("Count"), ["5", "7"])
            expectNoDifference(items.response["data"].array?.map { $0["modId"].string }, ["0", "0"])
            #expect(try await bench.get("layouts/Log/records").column("Text") == [])
        }
    }

    @Test func aScriptThatEndsBeforeTheCommitReverts() async throws {
        let ends: [Solution.Step] = [.exit("\"x\""), .error(7), .repeating([])]
        for last in ends {
            try await run(["A": Self.inTransaction(Self.add("Salt") + [last])]) {
                (bench: Bench, _: [JSONValue]) async throws in
                #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2"])
            }
        }
    }

    @Test func aConditionDecides() async throws {
        let steps =
            Self.inTransaction(
                Self.add("Salt") + [.revertTransaction(if: "Count > 1"), .set("Name", to: "\"Pepper\"")]
            ) + [.exit("Get ( LastError )")]
        try await run(["A": steps]) { (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer("0")])
            #expect(try await bench.get("layouts/Items/records").column("Name") == ["Tea", "Milk", "Pepper"])
        }
    }

    @Test(arguments: [(5000, 5000), (5499, 5499), (4999, 101), (5500, 101), (0, 101)])
    func codesOfOnesOwnAreFrom5000To5499(code: Int, error: Int) async throws {
        let steps = Self.inTransaction([
            .goToListOfRecords("99"), .revertTransaction(error: .number(Double(code))),
        ])
        try await run(["A": steps]) { _, answers in expectNoDifference(answers, [answer(nil, error)]) }
    }

    @Test func outsideOfATransactionThereIsNothingToRevert() async throws {
        try await run(["A": Self.add("Salt") + [.revertTransaction()]]) {
            (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer(nil, 3)])
            #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2", "3"])
        }
    }

    @Test func aClosedWindowCommits() async throws {
        try await run(["A": Self.inTransaction(Self.add("Salt") + [.closeWindow])]) {
            (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer(nil, 3)])
            #expect(try await bench.loggedIn().get("layouts/Items/records").recordIds == ["1", "2", "3"])
        }
    }

    // MARK: Errors

    @Test func validationReverts() async throws {
        // The second record is validated when the script goes on to the third one.
        let steps = Self.inTransaction(Self.add("Salt") + Self.add("Tea") + Self.add("Oil"))
        try await run(["A": steps + [.exit("Get ( LastError )")]]) {
            (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer("504", 504)])
            #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2"])
        }
    }

    @Test func theLastRecordIsValidatedByTheCommit() async throws {
        try await run(["A": Self.inTransaction(Self.add("Salt") + Self.add("Sugar", -1))]) {
            (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer(nil, 503)])
            #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2"])
        }
    }

    @Test func aRecordMayPassThroughWhatIsNotValid() async throws {
        let steps = Self.inTransaction(
            Self.add("Tea", -1) + [.set("Count", to: "1"), .set("Name", to: "\"Salt\""), .commitRecords]
        )
        try await run(["A": steps]) { (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer()])
            #expect(try await bench.get("layouts/Items/records").column("Name") == ["Tea", "Milk", "Salt"])
        }
    }

    @Test func aMissingRightReverts() async throws {
        let steps = Self.inTransaction([.set("Count", to: "0"), .newRecord, .goToLayout("Log")])
        try await withBench(.inProcess, [solution(["A": steps])]) { (bench: Bench) async throws in
            let clerk = try await bench.loggedIn("clerk", "secret")
            #expect(try await clerk.get("layouts/Items/script/A").response == answer(nil, 200))
            #expect(try await bench.get("layouts/Items/records").column("Count") == ["5", "7"])
        }
    }

    @Test func aScriptMayDealWithErrorsItself() async throws {
        let steps =
            Self.inTransaction(
                [.setRevertTransactionOnError(false)] + Self.add("Tea")
                    + [
                        .commitRecords, .set("$error", to: "Get ( LastError )"),
                        .branch("$error = 504", then: [.set("Name", to: "Name & 2")], else: []), .commitRecords,
                    ]
            ) + [.exit("$error & \" \" & Get ( LastError )")]
        try await run(["A": steps]) { (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer("504 0")])
            #expect(try await bench.get("layouts/Items/records").column("Name") == ["Tea", "Milk", "Tea2"])
        }
    }

    @Test func otherErrorsAreTheScriptsBusiness() async throws {
        let steps = Self.inTransaction(Self.add("Salt") + [.goToListOfRecords("99"), .goToLayout("<<$nowhere>>")])
        try await run(["A": steps]) { (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer()])
            #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2", "3"])
        }
    }

    // MARK: When values are entered

    @Test func serialNumbersAreGivenAtOnceAndNotGivenBack() async throws {
        let steps =
            Self.inTransaction([
                .newRecord, .set("$during", to: "Id & State & Label"), .set("Name", to: "\"Salt\""),
                .revertTransaction(if: "$$reverts"),
            ]) + [.set("$$reverts", to: "0"), .exit("$during")]
        let first: [Solution.Step] = [.set("$$reverts", to: "1")]
        try await run(["A": steps, "First": first], ["First", "A", "A"]) {
            (bench: Bench, answers: [JSONValue]) async throws in
            expectNoDifference(answers, [answer(), answer("3"), answer("4")])
            let items = try await bench.get("layouts/Items/records")
            expectNoDifference(items.column("Id"), ["1", "2", "4"])
            // All other values are entered by the commit.
            expectNoDifference(items.column("State"), ["", "", "new"])
            expectNoDifference(items.column("Label"), ["", "", "SALT"])
            // Record ids are not used again either.
            expectNoDifference(items.recordIds, ["1", "2", "4"])
        }
    }

    @Test func aChangedRecordGetsWhatAChangeEnters() async throws {
        let steps = Self.inTransaction([.set("Name", to: "\"Rum\""), .set("$label", to: "Label")])
        try await run(["A": steps + [.exit("$label & Label")]]) { _, answers in
            expectNoDifference(answers, [answer("RUM")])
        }
    }

    // MARK: Nested transactions

    @Test func aScriptThatIsPerformedJoins() async throws {
        let inner = Self.inTransaction(Self.add("Salt")) + [.exit("Get ( LastError ) & Get ( TransactionOpenState )")]
        let outer = Self.inTransaction(
            [.performScript("Inner"), .set("$inner", to: "Get ( ScriptResult )")] + Self.add("Oil")
                + [.revertTransaction(if: "Get ( ScriptParameter ) = 1")]
        )
        let scripts = ["Inner": inner, "A": outer + [.exit("$inner")]]
        try await withBench(.inProcess, [solution(scripts)]) { (bench: Bench) async throws in
            let reverted = try await bench.get("layouts/Items/script/A", [("script.param", "1")]).response
            expectNoDifference(reverted, answer("31"))
            #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2"])
            let committed = try await bench.get("layouts/Items/script/A", [("script.param", "0")]).response
            expectNoDifference(committed, answer("31"))
            #expect(try await bench.get("layouts/Items/records").column("Name") == ["Tea", "Milk", "Salt", "Oil"])
            // Run by itself, the inner script has its own transaction.
            #expect(try await bench.get("layouts/Items/script/Inner").response == answer("5040", 504))
        }
    }

    @Test func revertingRevertsAllAndGoesOnBehindTheOutermost() async throws {
        for inner in [
            [Solution.Step.revertTransaction(error: 5007)], Self.inTransaction(Self.add("Tea") + [.commitRecords]),
        ] {
            let scripts = [
                "Inner": inner + [.set("$$after", to: "1")],
                "Middle": Self.inTransaction(Self.add("Oil") + [.performScript("Inner"), .set("$$after", to: "1")]),
                "A": Self.inTransaction(Self.add("Salt") + [.performScript("Middle"), .set("$$after", to: "1")])
                    + [.exit("$$after & Get ( LastError )")],
            ]
            try await run(scripts) { (bench: Bench, answers: [JSONValue]) async throws in
                let code = inner.count == 1 ? 5007 : 504
                expectNoDifference(answers, [answer("\(code)", code)])
                #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2"])
            }
        }
    }

    // MARK: Other sessions

    @Test func recordsAreInUseUntilTheCommit() async throws {
        let steps = Self.inTransaction(
            Self.add("Salt") + [
                .goToListOfRecords("1"), .set("Count", to: "6"), .wait(10), .set("Count", to: "Count + 1"),
            ]
        )
        try await withBench(.inProcess, [solution(["A": steps])]) { (bench: Bench) async throws in
            let other = try await bench.loggedIn()
            async let script = bench.get("layouts/Items/script/A")
            await bench.clock.untilWaiting()
            let edit: JSONValue = ["fieldData": ["Count": "99"]]
            #expect(try await other.patch("layouts/Items/records/1", edit).code == "301")
            #expect(try await other.delete("layouts/Items/records/1").code == "301")
            #expect(try await other.patch("layouts/Items/records/2", edit).code == "0")
            // Other sessions do not see uncommitted changes, and the records they create get different numbers.
            #expect(try await other.get("layouts/Items/records").column("Count") == ["5", "99"])
            let created = try await other.post("layouts/Items/records", ["fieldData": ["Name": "Oil"]])
            expectNoDifference(created.response["recordId"], "4")
            bench.clock.advance(by: .seconds(10))
            let answered = try await script.response
            expectNoDifference(answered, answer())
            let items = try await other.get("layouts/Items/records")
            expectNoDifference(items.recordIds, ["1", "2", "3", "4"])
            expectNoDifference(items.column("Count"), ["7", "99", "1", ""])
            expectNoDifference(items.column("Id"), ["1", "2", "3", "4"])
            #expect(try await other.patch("layouts/Items/records/1", edit).code == "0")
        }
    }

    @Test func whatOthersCommitMeanwhileIsSeen() async throws {
        let steps =
            Self.inTransaction(Self.add("Salt") + [.commitRecords, .wait(10), .goToListOfRecords("2")])
            + [.exit("Get ( LastError ) & Name")]
        try await withBench(.inProcess, [solution(["A": steps])]) { (bench: Bench) async throws in
            let other = try await bench.loggedIn()
            async let script = bench.get("layouts/Items/script/A")
            await bench.clock.untilWaiting()
            #expect(try await other.delete("layouts/Items/records/2").code == "0")
            // The name was free when the transaction validated it, but is not when it commits.
            let salt = try await other.post("layouts/Items/records", ["fieldData": ["Name": "Salt"]])
            expectNoDifference(salt.code, "0")
            bench.clock.advance(by: .seconds(10))
            let answered = try await script.response["scriptError"]
            expectNoDifference(answered, "504")
            #expect(try await other.get("layouts/Items/records").column("Name") == ["Tea", "Salt"])
        }
    }

    @Test func aRecordThatSomebodyHasInUseIsError301() async throws {
        let steps = Self.inTransaction([.goToListOfRecords("1"), .set("Count", to: "6"), .wait(10)])
        let second = Self.inTransaction(
            Self.add("Oil") + [
                .goToListOfRecords("1"), .set("Count", to: "8"), .revertTransaction(if: "Get ( LastError )"),
            ]
        )
        try await withBench(.inProcess, [solution(["A": steps, "B": second])]) { (bench: Bench) async throws in
            let other = try await bench.loggedIn()
            async let script = bench.get("layouts/Items/script/A")
            await bench.clock.untilWaiting()
            #expect(try await other.get("layouts/Items/script/B").response == answer(nil, 301))
            bench.clock.advance(by: .seconds(10))
            let answered = try await script.response
            expectNoDifference(answered, answer())
            #expect(try await other.get("layouts/Items/script/B").response == answer())
            #expect(try await other.get("layouts/Items/records").column("Count") == ["8", "7", "1"])
        }
    }

    // MARK: Scripts in Swift

    @Test func scriptsInSwiftHaveThemToo() async throws {
        var solution = solution([:])
        solution.addScript("Whole") { context in
            try context.openTransaction()
            let id = try context.createRecord(["Name": "Salt"])
            try context.set("Count", to: "3")
            #expect(throws: FileMakerError(3)) { try context.openTransaction() }
            try context.commitTransaction()
            #expect(throws: FileMakerError(3)) { try context.commitTransaction() }
            return .result("\(id)")
        }
        solution.addScript("Nothing") { context in
            try context.openTransaction()
            try context.createRecord(["Name": "Oil"])
            try context.revertTransaction()
            return .result("\(context.isInTransaction) \(context.foundSet)")
        }
        solution.addScript("Forgotten") { context in
            try context.openTransaction()
            try context.set("Count", to: "0")
            return .none
        }
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            func run(_ name: String) async throws -> JSONValue {
                try await bench.get("layouts/Items/script/\(name)").response["scriptResult"]
            }
            #expect(try await run("Whole") == "3")
            #expect(try await run("Nothing") == "false [1, 2, 3]")
            #expect(try await run("Forgotten") == .null)
            #expect(try await bench.get("layouts/Items/records").column("Count") == ["5", "7", "3"])
            expectNoDifference(bench.engine.world.locks, [:])
        }
    }

    @Test func aScriptInSwiftMayRevertWhatItIsPerformedIn() async throws {
        var solution = solution([
            "A": Self.inTransaction(Self.add("Salt") + [.performScript("Revert")] + Self.add("Oil"))
                + [.exit("Get ( LastError )")]
        ])
        solution.addScript("Revert") { context in
            try context.revertTransaction()
            return .error(5009)
        }
        try await withBench(.inProcess, [solution]) { (bench: Bench) async throws in
            let response = try await bench.get("layouts/Items/script/A").response
            expectNoDifference(response, answer("5009", 5009))
            #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2"])
        }
    }

    // MARK: Invalid scripts

    @Test(arguments: [
        ([Solution.Step.openTransaction], "scripts[A].steps[0]"), ([.commitTransaction], "scripts[A].steps[0]"),
        ([.openTransaction, .openTransaction, .commitTransaction], "scripts[A].steps[1]"),
        ([.openTransaction, .branch("1", then: [.commitTransaction], else: [])], "scripts[A].steps[1].then[0]"),
        ([.performScript("Nobody")], "scripts[A].steps[0].performScript"),
        ([.exitLoopIf("1 +")], "scripts[A].steps[0].exitLoopIf"),
        ([.goToLayout("<<1")], "scripts[A].steps[0].goToLayout"),
    ])
    func areRefused(steps: [Solution.Step], path: String) {
        let error = #expect(throws: SolutionError.self) { try ModelBuilder.build([solution(["A": steps])]) }
        expectNoDifference(error?.path, path)
    }

    @Test func scriptsThatPerformThemselvesEnd() async throws {
        let scripts = ["A": Self.inTransaction(Self.add("Salt") + [Solution.Step.performScript("A")])]
        try await run(scripts) { (bench: Bench, answers: [JSONValue]) async throws in
            #expect(try await bench.get("layouts/Items/records").recordIds == ["1", "2"])
        }
        try await run(["A": [.performScript("A")]]) { _, answers in expectNoDifference(answers, [answer(nil, 3)]) }
    }
}
