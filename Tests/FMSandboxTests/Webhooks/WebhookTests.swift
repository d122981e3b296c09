import CustomDump
import Testing

@testable import FMSandbox

/// The requests of the webhook imitation. The tests of FMWebhooks cover its deliveries.
@Suite(.timeLimit(.minutes(15))) struct WebhookTests {
    private static let admin = Bench.basic("admin", "secret")

    private func run(
        _ traits: Sandbox.WebhookTraits? = .init(),
        _ solution: Solution? = nil,
        _ body: (Bench) async throws -> Void
    ) async throws {
        let note = Solution.Field("Note", .text)
        var solution = solution ?? Solution.oneTable([note], [.init(["Note": "a"]), .init(["Note": "b"])])
        solution.accounts.append(.init(name: "budgetClient", password: "pass", privilegeSet: "Desk"))
        solution.privilegeSets.append(.init(name: "Desk", allowsOData: false))
        try await withBench(.inProcess, [solution]) { configuration in
            configuration.odata = traits.map { .webhooks($0) } ?? .off
        } _: { bench in
            try await body(bench)
        }
    }

    private func call(
        _ bench: Bench,
        _ method: String,
        _ function: String,
        _ body: JSONValue? = nil,
        _ headers: [(String, String)] = [admin]
    ) async throws -> Bench.Answer {
        try await bench.send(
            method,
            "/fmi/odata/v4/One/Webhook.\(function)",
            headers: headers,
            body: body.map(JSONWriter.write) ?? []
        )
    }

    private func add(_ bench: Bench, _ name: String, table: String = "T") async throws -> Int? {
        let body: JSONValue = ["webhook": .string("http://127.0.0.1:9/\(name)"), "tableName": .string(table)]
        let answer = try await call(bench, "POST", "Add", body)
        return answer.json["webhookResult"]["webhookID"].scalarText.flatMap(Int.init)
    }

    @Test func thereIsNoneUnlessItIsAskedFor() async throws {
        try await run(nil) { bench in
            let answer = try await call(bench, "GET", "GetAll")
            expectNoDifference(answer.status, 404)
        }
    }

    @Test func anAccountNeedsItsPrivilegeAndATokenIsOfNoUse() async throws {
        try await run { bench in
            let token: String = try #require(bench.token)
            let wrong = [
                [], [Bench.basic("budgetClient", "pass")], [Bench.basic("admin", "wrong")],
                [("Authorization", "Bearer \(token)")],
            ]
            for headers in wrong {
                let answer = try await call(bench, "GET", "GetAll", nil, headers)
                expectNoDifference(answer.status, 401)
                expectNoDifference(answer.json["error"]["code"], "212")
            }
        }
    }

    @Test func idsAreGivenAgainTheLowestFirstAndARestartSortsTheList() async throws {
        try await run { bench in
            for id in 1...3 {
                let added = try await add(bench, "a")
                expectNoDifference(added, id)
            }
            #expect(try await call(bench, "POST", "Delete(1)", [:]).status == 200)
            let again = try await add(bench, "b")
            expectNoDifference(again, 1)
            expectNoDifference(bench.engine.withState { $0.webhooks.hooks.map(\.id) }, [2, 3, 1])
            bench.engine.closeAllSessions(isRestart: true)
            expectNoDifference(bench.engine.withState { $0.webhooks.hooks.map(\.id) }, [1, 2, 3])
        }
    }

    @Test func whatIsNotThereAndWhatIsNoCall() async throws {
        try await run { bench in
            for (method, function) in [("GET", "Get(7)"), ("POST", "Delete(7)"), ("GET", "Get(x)"), ("GET", "Get")] {
                let answer = try await call(bench, method, function, [:])
                expectNoDifference(answer.status, 404)
                expectNoDifference(answer.json["error"]["code"], "-1061")
            }
            let update = try await call(bench, "POST", "Update(4)", [:])
            expectNoDifference(update.status, 400)
            expectNoDifference(update.json["error"]["code"], "-1009")
            #expect(try await call(bench, "POST", "Add").status == 400)
            #expect(try await call(bench, "POST", "Add", ["webhook": "x"]).status == 400)
            #expect(
                try await call(bench, "POST", "Add", ["webhook": "x", "tableName": "T", "more": "1"]).status == 400
            )
        }
    }

    @Test func theFirstListMayBeEmptyAndSoAfterARestart() async throws {
        try await run(.init(coldList: true)) { bench in
            _ = try await add(bench, "a")
            for _ in 1...2 {
                for count in [0, 1] {
                    let list = try await call(bench, "GET", "GetAll").json["webhooks"]
                    expectNoDifference(list.array?.count, count)
                }
                bench.engine.closeAllSessions(isRestart: true)
            }
        }
    }

    @Test func aListInBothSpellings() async throws {
        for (spelling, keys) in [
            (Sandbox.WebhookTraits.Spelling.lower, ["@context", "status", "webhooks"]),
            (.camel, ["@context", "Status", "WebHook"]),
        ] {
            try await run(.init(spelling: spelling, takesEndpointHeaders: false)) { bench in
                let body: JSONValue = ["webhook": "http://127.0.0.1:9/", "tableName": "T", "headers": ["X": "s"]]
                #expect(try await call(bench, "POST", "Add", body).status == 200)
                var newer = body.object ?? [:]
                newer.append("endpointHeaders", ["X": "s"])
                #expect(try await call(bench, "POST", "Add", .object(newer)).status == 400)
                let list = try await call(bench, "GET", "GetAll").json
                expectNoDifference(list.object?.keys, keys)
                let hook = list[keys[2]][0]
                expectNoDifference(hook["headers"]["X"], "s")
                expectNoDifference(hook[spelling == .lower ? "webhookID" : "webHookID"], .number("1"))
                expectNoDifference(hook[spelling == .lower ? "webhook" : "url"], "http://127.0.0.1:9/")
            }
        }
    }

    /// Port 9 has no listener, so deliveries wait.
    @Test func aCommitIsAnOperationForEachHookOfItsTable() async throws {
        try await run { bench in
            _ = try await add(bench, "a")
            _ = try await add(bench, "b")
            _ = try await add(bench, "c", table: "Nowhere")
            _ = try await bench.post("layouts/L/records", ["fieldData": ["Note": "c"]])
            _ = try await bench.patch("layouts/L/records/1", ["fieldData": ["Note": "z"]])
            _ = try await bench.delete("layouts/L/records/2")
            // A refusal changes nothing.
            _ = try await bench.delete("layouts/L/records/77")
            let queues = bench.engine.withState { state in
                state.webhooks.hooks.map { hook in hook.queue.map { "\($0.kind.rawValue) \($0.rowIDs)" } }
            }
            expectNoDifference(
                queues,
                [["ADD [3]", "UPDATE [1]", "DELETE [2]"], ["ADD [3]", "UPDATE [1]", "DELETE [2]"], []]
            )
            bench.engine.webhookSender.stop()
        }
    }

    @Test func truncatingIsHeardWhereTheServerSaysSo() async throws {
        for fires in [true, false] {
            try await run(.init(firesOnTruncate: fires)) { bench in
                _ = try await add(bench, "a")
                bench.engine.truncate(0)
                expectNoDifference(bench.engine.world.tables[0].records.count, 0)
                let ids = bench.engine.withState { $0.webhooks.hooks[0].queue.map(\.rowIDs) }
                expectNoDifference(ids, fires ? [[-1]] : [])
                bench.engine.webhookSender.stop()
            }
        }
    }

    @Test func aResetForgetsTheHooks() async throws {
        try await run { bench in
            _ = try await add(bench, "a")
            bench.engine.reset()
            expectNoDifference(bench.engine.withState { $0.webhooks.hooks.count }, 0)
            let id = try await add(bench, "b")
            expectNoDifference(id, 1)
        }
    }
}
