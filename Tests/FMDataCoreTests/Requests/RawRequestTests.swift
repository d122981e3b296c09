import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Requests that have no call of their own.
@Suite(.timeLimit(.minutes(15))) struct RawRequestTests {
    @Test func namesAreEncodedAndTheBodyIsSentAsItIs() async throws {
        let answer = #"{"response":{"later":[1, 2]},"messages":[{"code":"0","message":"OK"}]}"#
        try await ScriptedHost.run(answer: { _ in .json(200, answer) }) { host in
            let body = #"{ "of a later": "version" }"#
            let json = try await host.database.rawAnswer(
                to: DataAPI.RawRequest(
                    "POST",
                    ["layouts", "A/B", "later"],
                    query: ["b": "1 & 2", "a": "ä"],
                    body: Data(body.utf8)
                )
            )
            .firstValue()
            expectNoDifference(String(decoding: json, as: UTF8.self), answer)
            let call = host.calls.last
            expectNoDifference(
                call?.target,
                "/fmi/data/vLatest/databases/Harbor/layouts/A%2FB/later?a=%C3%A4&b=1%20%26%202"
            )
            expectNoDifference(call?.text, body)
        }
    }

    @Test func whatItCannotBe() async throws {
        try await World.run { world in
            for request in [
                DataAPI.RawRequest("BREW", ["scripts"]), DataAPI.RawRequest("GET", []),
                DataAPI.RawRequest("DELETE", ["sessions", "token"]), DataAPI.RawRequest("GET", ["layouts", "..", "x"]),
            ] {
                let error = await world.database.rawAnswer(to: request).awaitSingleResult().failure
                expectNoDifference(error?.code, .invalidRequest, "\(request)")
            }
            expectNoDifference(world.sandbox.counters.requests.filter { $0.key != .login && $0.key != .logout }, [:])
        }
    }

    @Test func itFailsWithFileMakersCodeAndShowsNoValue() async throws {
        try await World.run { world in
            let request = DataAPI.RawRequest(
                "POST",
                ["layouts", "Contacts", "_find"],
                query: ["later": "canary"],
                body: Data(#"{"query":[{"City":"canary"}]}"#.utf8)
            )
            let error = try #require(await world.database.rawAnswer(to: request).awaitSingleResult().failure)
            #expect(error.fileMakerCode != nil)
            for text in ["\(error)", error.curl ?? "", "\(request)", String(customDumping: request)] {
                #expect(!text.contains("canary"), "\(text)")
            }
        }
    }

    @Test func onlyAReadMayBeSentTwice() throws {
        func isSafe(_ method: String, _ path: [String], _ query: [String: String] = [:]) throws -> Bool {
            try DataAPIRequest.raw(DataAPI.RawRequest(method, path, query: query), in: "World").isSafeToRepeat
        }
        #expect(try isSafe("GET", ["scripts"]))
        #expect(try isSafe("GET", ["layouts", "script", "records"]))
        #expect(try !isSafe("GET", ["layouts", "Contacts", "script", "Echo"]))
        #expect(try !isSafe("GET", ["layouts", "Contacts", "records"], ["script.presort": "Echo"]))
        #expect(try !isSafe("POST", ["layouts", "Contacts", "_find"]))
    }

    @Test func theOperationIsThatOfTheCallThatIsLikeIt() throws {
        func operation(_ method: String, _ path: String...) throws -> DataAPI.Operation {
            try DataAPIRequest.raw(DataAPI.RawRequest(method, path), in: "World").operation
        }
        expectNoDifference(
            [
                try operation("GET", "later"), try operation("GET", "scripts"),
                try operation("GET", "layouts", "A", "later"),
                try operation("GET", "later", "A", "B"), try operation("GET", "layouts", "A", "records"),
            ],
            [.raw, .scriptNames, .raw, .raw, .getRecords]
        )
    }
}
