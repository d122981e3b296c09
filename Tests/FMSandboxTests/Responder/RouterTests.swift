import Testing

@testable import FMSandbox

/// Requests that match no endpoint, or are refused before they reach one.
@Suite(.timeLimit(.minutes(15))) struct RouterTests {
    @Test(.tags(.contract), arguments: Venue.allCases)
    func wrongContentTypeWrongMethodWrongPath(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let token = ("Authorization", "Bearer \(try #require(bench.token))")
            let path = bench.path("layouts/Contacts/records")
            let plain = try await bench.send(
                "POST",
                path,
                headers: [token, ("Content-Type", "text/plain")],
                body: Array("{}".utf8)
            )
            #expect(plain.status == 415)
            #expect(plain.code == "1705")
            let find = try await bench.get("layouts/Contacts/_find")
            #expect(find.status == 405)
            #expect(find.code == "1704")
            let stray = try await bench.get("nothing")
            #expect(stray.status == 404)
            #expect(stray.code == "1700")
            #expect(try await bench.get("Layouts").status == 404)
            #expect(bench.engine.counters.strayRequests == 3)
        }
    }

    @Test(.tags(.contract), arguments: Venue.allCases)
    func namesArePercentDecodedSegmentBySegment(_ venue: Venue) async throws {
        try await withBench(venue) { (bench: Bench) async throws in
            let name = "Names / 100 % Übersicht"
            let answer = try await bench.get("layouts/\(Bench.encode(name))/records")
            #expect(answer.response["dataInfo"]["layout"] == .string(name))
        }
    }

    @Test(arguments: ["%ZZ", "%", "%4", "%4G", "a%zzb", "%FF", "%C3"])
    func whatCannotBePercentDecodedIsRefused(_ text: String) async throws {
        try await withBench { (bench: Bench) async throws in
            let token = [("Authorization", "Bearer \(try #require(bench.token))")]
            let contacts = bench.path("layouts/Contacts/records")
            for target in [
                bench.path("layouts/\(text)/records"), "/fmi/data/v1/\(text)", "/\(text)",
                "/fmi/odata/v4/World/\(text)/Webhook.GetAll", "\(contacts)?_limit=\(text)", "\(contacts)?\(text)=1",
            ] {
                let answer = try await bench.send("GET", target, headers: token)
                #expect(answer.status == 400, "\(target)")
                #expect(answer.code == "1708", "\(target)")
            }
        }
    }

    @Test(.tags(.openQuestion)) func malformedJSONIsRefused() async throws {
        try await withBench { (bench: Bench) async throws in
            for (body, code) in [("{", "1710"), ("[1", "1710"), ("[]", "1708"), (#"{"fieldData":[]}"#, "1708")] {
                let answer = try await bench.post("layouts/Contacts/records", text: body)
                #expect(answer.status == 400)
                #expect(answer.code == code)
            }
        }
    }

    @Test(.tags(.openQuestion)) func refusalsHaveFileMakerCodes() async throws {
        try await withBench { (bench: Bench) async throws in
            let plain = [("Authorization", "Bearer \(try #require(bench.token))"), ("Content-Type", "text/plain")]
            let answers = [
                try await bench.get("nowhere"), try await bench.get("layouts/Contacts/_find"),
                try await bench.send(
                    "POST",
                    bench.path("layouts/Contacts/records"),
                    headers: plain,
                    body: Array("{}".utf8)
                ),
            ]
            #expect(answers.map(\.status) == [404, 405, 415])
            #expect(answers.map(\.code) == ["1700", "1704", "1705"])
        }
    }
}
