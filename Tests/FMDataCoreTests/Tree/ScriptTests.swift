import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

@Suite(.timeLimit(.minutes(15))) struct ScriptTests {
    struct Basket: Codable, Equatable, Sendable {
        var article: String
        var pieces: Int
        var isGift: Bool
    }

    let basket = Basket(article: "Tea \"Earl\" é", pieces: 3, isGift: true)

    // MARK: Parameter and result

    @Test func aValueGoesInAsJSONAndComesOutTyped() async throws {
        try await World.run { world in
            let quote = try await world.countries
                .runScript("Echo", parameter: .json(basket), returning: Basket.self).firstValue()
            expectNoDifference(quote, basket)
        }
    }

    @Test func aTextStaysAsItIs() async throws {
        try await World.run { world in
            let text = try await world.countries
                .runScript("Echo", parameter: "{not json", returning: String.self).firstValue()
            expectNoDifference(text, "{not json")
            let number = try await world.countries
                .runScript("Count Found", returning: Int.self).firstValue()
            expectNoDifference(number, 249)
            let response = try await world.countries.runScript("Echo", parameter: .text("a&b")).firstValue()
            expectNoDifference(response, .init(scriptResult: "a&b", scriptError: "0", scriptName: "Echo"))
        }
    }

    @Test func noResultIsNilForAnOptionalAndAnErrorOtherwise() async throws {
        try await World.run { world in
            let nothing = try await world.countries
                .runScript("Visit All", returning: Int?.self, accepting: [.recordMissing]).firstValue()
            expectNoDifference(nothing, nil)
            let error = await world.countries
                .runScript("Visit All", returning: Int.self, accepting: [.recordMissing])
                .awaitSingleResult().failure
            expectNoDifference(error?.code, .decoding)
        }
    }

    /// Runs a script that returns a text, and reads the result as a type that it does not have.
    private func expect<Value: Decodable>(
        _ world: World,
        _ json: String,
        _ type: Value.Type,
        _ reason: String
    ) async {
        let run = world.countries.runScript("Echo", parameter: .text(json), returning: type)
        let error = await run.map { _ in true }.awaitSingleResult().failure
        expectNoDifference(
            error?.description,
            #"decoding: The result of the script "Echo" is not of type \#(type): \#(reason) "#
                + "Hint: The result is read as JSON, such as JSONSetElement makes it; "
                + "returning: String.self takes any text as it is."
        )
    }

    @Test func aResultThatDoesNotFitSaysWhatAndWhere() async throws {
        struct Line: Decodable { var pieces: Int }
        struct Order: Decodable { var lines: [Line] }
        enum Size: String, Decodable { case small }
        for decoder in [nil, JSONDecoder()] {
            try await World.run(client: { $0.decoder = decoder }) { world in
                await expect(
                    world,
                    #"{"lines":[{"pieces":3},{"pieces":{"s3cret":1}}]}"#,
                    Order.self,
                    #""lines[1].pieces" is an object, and Int is expected."#
                )
                await expect(world, #"{"lines":[{"s3cret":3}]}"#, Order.self, #""lines[0]" has no key "pieces"."#)
                await expect(world, "s3cret", Order.self, "it is not JSON.")
                await expect(world, #""s3cret""#, Size.self, "it is a text that its type does not take.")
                let nothing = await world.countries
                    .runScript("Visit All", returning: Int.self, accepting: [.recordMissing])
                    .awaitSingleResult().failure
                expectNoDifference(
                    nothing?.description,
                    #"decoding: The result of the script "Visit All" is not of type Int: the script returned nothing. "#
                        + "Hint: A script returns its result by Exit Script. An optional type is nil where there is none."
                )
            }
        }
    }

    @Test func everyKindOfResultHasItsWord() async throws {
        enum Size: String, Decodable { case small }
        let kinds = [
            ("null", "null"), ("true", "a boolean"), ("1.5", "a number"), (#""x""#, "a text"), ("[]", "an array"),
            ("{}", "an object"),
        ]
        try await World.run { world in
            for (json, kind) in kinds {
                let run = world.countries
                    .runScript("Echo", parameter: .text("[\(json)]"), returning: [Size].self)
                let error = await run.map { _ in true }.awaitSingleResult().failure
                #expect(error?.reason.contains("\"[0]\" is \(kind)") == true, "\(error?.reason ?? "")")
            }
        }
    }

    @Test func aStreamOfRecordsNamesItsScriptsToo() async throws {
        try await World.run { world in
            let summary = Locked<DataAPI.RecordsSummary?>(nil)
            let query = RecordQuery(script: ScriptQuery(script: "Echo", scriptPreSort: "Count Found"), limit: 1)
            _ = await world.countries
                .records(FieldData.self, recordQuery: query, summary: { value in summary.change { $0 = value } })
                .collect().awaitSingleResult()
            expectNoDifference(summary.value?.scriptResponse?.scriptName, "Echo")
            expectNoDifference(summary.value?.scriptResponse?.scriptNamePreSort, "Count Found")
        }
    }

    @Test func aResultThatDoesNotFitIsAnErrorWithoutTheResult() async throws {
        try await World.run { world in
            let error = await world.countries
                .runScript("Echo", parameter: "\"s3cret\"", returning: Int.self).awaitSingleResult().failure
            expectNoDifference(error?.code, .decoding)
            #expect(error.map { !"\($0)".contains("s3cret") } == true)
        }
    }

    @Test func aParameterThatCannotBeWrittenIsAnEncodingErrorAndNothingIsSent() async throws {
        struct Stubborn: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw CancellationError() }
        }
        try await World.run { world in
            let error = await world.countries.runScript("Echo", parameter: .json(Stubborn()))
                .awaitSingleResult().failure
            expectNoDifference(error?.code, .encoding)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    // MARK: Errors of scripts

    @Test func anErrorIsAValueUntilAsked() async throws {
        try await World.run { world in
            let run = world.countries.runScript("Fail With", parameter: "301")
            let value = try await run.firstValue()
            expectNoDifference(value.scriptError, "301")
            let error = await run.failOnScriptError().awaitSingleResult().failure
            expectNoDifference(error?.code, .script)
            expectNoDifference(error?.fileMakerCode, .recordInUse)
            expectNoDifference(error?.scriptFailure, .init(script: "Fail With", phase: .afterRequest, code: 301))
            expectNoDifference(
                error?.description,
                #"script 301: The script "Fail With" ended with 301 (record is in use elsewhere). "#
                    + "Hint: \(FileMakerErrorCode.recordInUse.hint ?? "?")"
            )
            expectNoDifference(error?.isRetryable, false, "nobody knows how far the script came")
        }
    }

    @Test func anOrdinaryLoopEndsWith101WhichCanBeExcepted() async throws {
        try await World.run { world in
            let run = world.contacts.runScript("Visit All")
            let excepted = try await run.failOnScriptError(except: [.recordMissing]).firstValue()
            expectNoDifference(excepted.scriptError, "101")
            let unchosen = try await run.failOnScriptError(only: [.recordInUse]).firstValue()
            expectNoDifference(unchosen.scriptError, "101")
            let any = await run.failOnScriptError().awaitSingleResult().failure
            expectNoDifference(any?.fileMakerCode, .recordMissing)
            let chosen = await run.failOnScriptError(only: [101]).awaitSingleResult().failure
            expectNoDifference(chosen?.scriptFailure?.code, .recordMissing)
        }
    }

    @Test(arguments: [
        ("before", DataAPI.ScriptPhase.preRequest), ("between", .preSort), ("after", .afterRequest),
    ])
    func everyResponseWithScriptsFailsWithThePhase(name: String, phase: DataAPI.ScriptPhase) async throws {
        let script = ScriptQuery(
            script: phase == .afterRequest ? "Fail With" : "Echo",
            scriptParam: phase == .afterRequest ? "5" : "x",
            scriptPreSort: phase == .preSort ? "Fail With" : "Echo",
            scriptPreSortParam: phase == .preSort ? "5" : "x",
            scriptPreRequest: phase == .preRequest ? "Fail With" : "Echo",
            scriptPreRequestParam: phase == .preRequest ? "5" : "x"
        )
        try await World.run { world in
            let contacts = world.contacts
            let record = EditRecord(createRecord: ["City": "Kiel"], script: script)
            let errors = [
                await contacts.getRecords(recordQuery: RecordQuery(script: script)).returnAs(FieldData.self)
                    .failOnScriptError().awaitSingleResult().failure,
                await contacts.findRecords(query: FindQuery(query: [["Name": "Ada"]], script: script))
                    .returnAs(FieldData.self).failOnScriptError().awaitSingleResult().failure,
                await contacts.createRecord(record: record).failOnScriptError().awaitSingleResult().failure,
                await contacts.editRecord(record: record, recordId: 1).failOnScriptError().awaitSingleResult().failure,
                await contacts.duplicateRecord(recordId: 1, scriptQuery: script).failOnScriptError()
                    .awaitSingleResult().failure,
                await contacts.deleteRecord(recordId: 1, scriptQuery: script).failOnScriptError()
                    .awaitSingleResult().failure,
            ]
            for error in errors {
                expectNoDifference(error?.scriptFailure, .init(script: "Fail With", phase: phase, code: 5))
                let when = phase == .afterRequest ? "" : ", which ran \(phase.rawValue),"
                expectNoDifference(
                    error?.reason,
                    #"The script "Fail With"\#(when) ended with 5 (command incomplete or invalid)."#
                )
            }
            expectNoDifference(world.sandbox.counters.executedWrites, 4, "the requests themselves were carried out")
        }
    }

    @Test func ofSeveralFailuresTheFirstToRunCounts() {
        let response = DataAPI.ScriptResponse(
            scriptResult: "c",
            scriptError: "3",
            scriptResultPreRequest: "a",
            scriptErrorPreRequest: "0",
            scriptResultPreSort: "b",
            scriptErrorPreSort: "no number"
        )
        expectNoDifference(
            response.failures,
            [
                .init(phase: .preSort, code: .unknown, result: "b"),
                .init(phase: .afterRequest, code: 3, result: "c"),
            ]
        )
    }

    @Test func aScriptsOwnErrorIsNoLossOfThePinnedSession() async throws {
        try await World.run { world in
            for code in ["112", "952"] {
                let error = await world.database.withSessionPublisher { pinned in
                    pinned.addLayout("Contacts").runScript("Echo")
                        .flatMap { _ in
                            pinned.addLayout("Contacts").runScript("Fail With", parameter: .text(code))
                        }
                        .failOnScriptError()
                        .eraseToAnyPublisher()
                }
                .awaitSingleResult().failure
                expectNoDifference(error?.code, .script)
            }
        }
    }

    // MARK: Parameters that must not be in a URL

    @Test func aConfidentialParameterIsInNoURLAndReachesTheScript() async throws {
        try await World.run { world in
            let response = try await world.contacts
                .runScript("Echo", parameter: .confidential("s3cret")).firstValue()
            expectNoDifference(response, .init(scriptResult: "s3cret", scriptError: "0", scriptName: "Echo"))
            expectNoDifference(world.sandbox.counters.requests[.find], 1)
            expectNoDifference(world.sandbox.counters.requests[.runScript], nil)
            expectNoDifference(world.sandbox.counters.executedWrites, 0)
            let count = try await world.contacts.runScript(
                "Count Found",
                parameter: .confidential(json: basket),
                returning: Int.self
            ).firstValue()
            expectNoDifference(count, 3, "the script sees all records, as by a GET")
        }
        try await ScriptedHost.run(answer: { request in
            request.target.hasSuffix("_find")
                ? .json(#"{"scriptResult":"r","scriptError":"0","data":[]}"#)
                : .json(#"{"fieldMetaData":[{"name":"Name","type":"normal","result":"text"}],"portalMetaData":{}}"#)
        }) { host in
            let response = try await host.layout.runScript("Unlock", parameter: .confidential("s3cret"))
                .firstValue()
            expectNoDifference(response.scriptResult, "r")
            expectNoDifference(host.server.requests.filter { $0.target.contains("s3cret") }.count, 0)
            expectNoDifference(
                host.calls.last?.text,
                #"{"limit":"1","portal":[],"query":[{"Name":"*"},{"Name":"="}],"script":"Unlock","#
                    + #""script.param":"s3cret"}"#
            )
        }
    }

    @Test func aMegabyteGoesInTheBodyWhenItIsConfidential() async throws {
        try await World.run { world in
            let long = (0..<170_000).map { String($0) }.joined(separator: " ")
            let response = try await world.contacts.runScript("Echo", parameter: .confidential(long))
                .firstValue()
            expectNoDifference(response.scriptResult == long, true)
            expectNoDifference(world.sandbox.counters.requests[.runScript], nil)
        }
    }

    @Test func aLongParameterGoesInTheURLAndNothingElseIsAskedFor() async throws {
        let long = String(repeating: "long ", count: 800)
        try await World.run { world in
            let response = try await world.contacts.runScript("Echo", parameter: .text(long)).firstValue()
            expectNoDifference(response.scriptResult, long)
            expectNoDifference(world.sandbox.counters.requests[.find], nil)
            expectNoDifference(world.sandbox.counters.requests[.layoutMetadata], nil)
        }
    }

    @Test(arguments: [414, 431])
    func aURLThatIsRefusedAsTooLongWasNotCarriedOut(status: Int) async throws {
        try await ScriptedHost.run(answer: { _ in .html(status) }) { host in
            let error = await host.layout.runScript("S", parameter: .text(String(repeating: "x", count: 9_000)))
                .awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(error?.outcomeIsUnknown, false)
            #expect(error?.hint?.contains("confidential") == true, "\(error as Any)")
            expectNoDifference(host.calls.count, 1)
        }
    }

    @Test(arguments: [400, 404])
    func aBareRefusalOfALongURLIsHintedAt(status: Int) async throws {
        try await ScriptedHost.run(answer: { _ in .html(status) }) { host in
            func hint(_ length: Int) async -> String? {
                await host.layout.runScript("S", parameter: .text(String(repeating: "x", count: length)))
                    .awaitSingleResult().failure?.hint
            }
            #expect(await hint(9_000)?.contains("confidential") == true)
            #expect(await hint(9)?.contains("confidential") == false)
        }
    }

    @Test func withoutARecordOrAFieldToFindByNothingRunsAndTheErrorSaysWhy() async throws {
        var empty = Solution.single(fields: [.init("Name")], layoutFields: ["Name"])
        empty.addScript("Echo") { .result($0.parameter) }
        try await Hosted.run(empty) { database, sandbox in
            let error = await database.addLayout("Notes")
                .runScript("Echo", parameter: .confidential("s3cret")).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            #expect(error?.reason.contains("did not run") == true)
            expectNoDifference(sandbox.counters.scriptRuns, 0)
        }
        var blind = Solution.single(
            fields: [.init("gName", isGlobal: true), .init("Photo", .container), .init("omit")],
            layoutFields: ["gName", "Photo", "omit"],
            records: [.init([:])]
        )
        blind.addScript("Echo") { .result($0.parameter) }
        try await Hosted.run(blind) { database, sandbox in
            let error = await database.addLayout("Notes")
                .runScript("Echo", parameter: .confidential("s3cret")).awaitSingleResult().failure
            expectNoDifference(error?.code, .invalidRequest)
            expectNoDifference(sandbox.counters.requests[.find], nil)
        }
    }

    @Test func eachSubscriptionRunsTheScriptAndNoneDoesNot() async throws {
        try await World.run { world in
            let run = world.countries.runScript("Echo", parameter: "1")
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
            _ = try await run.firstValue()
            _ = try await run.firstValue()
            expectNoDifference(world.sandbox.counters.scriptRuns, 2)
        }
    }

    @Test(.tags(.fact)) func aConfidentialParameterTakesTheBody() async throws {
        try await World.run { world in
            let long = String(repeating: "ü", count: 400)
            let response = try await world.contacts.runScript("Echo", parameter: .confidential(long))
                .firstValue()
            expectNoDifference(response.scriptResult, long)
            expectNoDifference(world.sandbox.counters.requests[.runScript], nil)
            expectNoDifference(world.sandbox.counters.requests[.find], 1)
        }
    }

    @Test(.tags(.fact)) func anErrorOfAScriptIsATextForEachPhaseAndNoFailureOfTheCall() async throws {
        try await World.run { world in
            let script = ScriptQuery(script: "Visit All", scriptPreSort: "Fail", scriptPreRequest: "Echo")
            let response = try await world.contacts.getRecords(recordQuery: RecordQuery(script: script))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(
                response.scriptResponse.map { [$0.scriptErrorPreRequest, $0.scriptErrorPreSort, $0.scriptError] },
                ["0", "5", "101"]
            )
        }
    }

    @Test(.tags(.earlierClients))
    func aScriptWithoutAParameterHasNone() async throws {
        try await ScriptedHost.run { host in
            _ = try await host.layout.runScript("S").firstValue()
            _ = try await host.layout.deleteRecord(recordId: 1, scriptQuery: ScriptQuery(script: "S")).firstValue()
            expectNoDifference(host.calls.filter { $0.target.contains("param") }.count, 0)
        }
    }

    @Test(.tags(.earlierClients))
    func aScriptGivesItsResultAndItsError() async throws {
        try await World.run { world in
            let failed = try await world.countries.runScript("Fail").firstValue()
            expectNoDifference(failed, .init(scriptError: "5", scriptName: "Fail"))
        }
    }
}
