import CustomDump
import FMTestSupport
import Foundation
import Logging
import Testing

@testable import FMSandbox

/// Settings of a host other than its databases: proxies, logs, and settings in a solution file.
@Suite(.timeLimit(.minutes(15))) struct HostSettingsTests {
    @Test(
        arguments: [
            ([], "http://127.0.0.1"), ([("X-Forwarded-Proto", "https")], "https://127.0.0.1"),
            (
                [("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "fms.example.com:8443")],
                "https://fms.example.com:8443"
            ),
            (
                [("X-Forwarded-Host", "a.example, b.example"), ("X-Forwarded-Proto", "https, http")],
                "https://a.example"
            ),
            ([("X-Forwarded-Host", "[::1]:80")], "http://[::1]:80"),
            ([("X-Forwarded-Host", "a/b")], "http://127.0.0.1"),
            ([("X-Forwarded-Host", ""), ("X-Forwarded-Proto", "ftp")], "http://127.0.0.1"),
        ] as [([(String, String)], String)]
    )
    func containerAddressesAreThoseOfTheProxy(_ headers: [(String, String)], _ origin: String) async throws {
        try await withBench(.http) { (bench: Bench) async throws in
            _ = try await bench.upload("layouts/Contacts/records/1/containers/Photo/1", [1])
            let token = ("Authorization", "Bearer \(try #require(bench.token))")
            let path = bench.path("layouts/Contacts/records/1")
            let url = try await bench.send("GET", path, headers: headers + [token]).fields["Photo"].string ?? ""
            let port = origin.hasSuffix("//127.0.0.1") ? ":\(try #require(bench.port))" : ""
            #expect(url.hasPrefix("\(origin)\(port)/Streaming_SSL/MainDB/"))
        }
    }

    @Test func theLogTellsFileMakersCode() async throws {
        let lines = LogLines()
        try await withBench(.http, configure: { $0.logger = lines.logger(.info) }) { (bench: Bench) async throws in
            _ = try await bench.get("layouts/Contacts/records/99")
            bench.engine.withState { $0.faults.add(.init(.html(status: 502))) }
            _ = try await bench.get("layouts")
            let path = "/fmi/data/v1/databases/World"
            expectNoDifference(
                lines.all,
                [
                    "info request|fm.code=0 http.method=POST http.path=\(path)/sessions http.status=200",
                    "info request|fm.code=101 http.method=GET http.path=\(path)/layouts/Contacts/records/99 "
                        + "http.status=500",
                    "info request|http.method=GET http.path=\(path)/layouts http.status=502",
                ]
            )
        }
    }

    private static let server = #"""
        {"openContainers": true, "timeZone": "Europe/Berlin", "sessionLifetime": 60, "keepAlive": 0.5, "compression": false}
        """#

    @Test func aSolutionFileHoldsTheSettings() throws {
        let server = try JSONDecoder().decode(Solution.Server.self, from: Data(Self.server.utf8))
        let expected = Solution.Server(
            containerStreaming: .open,
            timeZone: TimeZone(identifier: "Europe/Berlin"),
            sessionLifetime: .seconds(60),
            keepAlive: .milliseconds(500),
            compression: false
        )
        expectNoDifference(server, expected)
        let again = try JSONDecoder().decode(Solution.Server.self, from: JSONEncoder().encode(server))
        expectNoDifference(again, expected)
    }

    @Test(arguments: [
        (#"{"timeZone": "Berlin"}"#, #"expected the name of a time zone, as Europe/Berlin, found "Berlin""#),
        (#"{"sessionLifetime": 0}"#, "expected seconds, more than 0 and no more than 31536000"),
        (#"{"keepAlive": -1}"#, "expected seconds, more than 0 and no more than 31536000"),
    ])
    func wrongSettingsAreRefused(_ json: String, _ reason: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Solution.Server.self, from: Data(json.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        expectNoDifference(context.debugDescription, reason)
    }

    @Test func theSettingsOfASolutionAreThoseOfTheHost() async throws {
        var solution = Solution.sample
        solution.server = try JSONDecoder().decode(Solution.Server.self, from: Data(Self.server.utf8))
        try await withBench(.http, [solution], configure: { $0.keepAlive = .seconds(3600) }) {
            (bench: Bench) async throws in
            let bearer = ("Authorization", "Bearer \(try #require(bench.token))")
            let list = try await bench.send(
                "GET",
                bench.path("layouts/Contacts/records"),
                headers: [bearer, ("Accept-Encoding", "gzip")]
            )
            #expect(list.header("content-encoding") == nil)
            // The configuration overrides the solution's setting.
            #expect(list.header("keep-alive")?.hasPrefix("timeout=3600") == true)
            // This is 12:00 UTC on the bench's clock.
            let created = try await bench.post("layouts/Contacts/records", ["fieldData": [:]]).response["recordId"]
                .string
            let record = try await bench.get("layouts/Contacts/records/\(created ?? "")")
            #expect(record.fields["CreatedAt"] == "01/15/2025 13:00:00")
            bench.clock.advance(by: .seconds(61))
            #expect(try await bench.get("layouts").code == "952")
        }
    }

    // MARK: The clock

    @Test func anAdjustableClockIsMovedOn() async throws {
        let clock = AdjustableClock()
        let before = clock.now
        let done = Locked(false)
        async let wait: Void = {
            try await clock.wait(for: .seconds(3600))
            done.change { $0 = true }
        }()
        // Even a wait that begins late ends once the clock has been advanced by another hour.
        while !done.value {
            clock.advance(by: .seconds(3600))
            await Task.yield()
        }
        try await wait
        #expect(clock.now.timeIntervalSince(before) >= 3600)
        try await clock.wait(for: .zero)
        let cancelled = Task { try await clock.wait(for: .seconds(86_400)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func aSandboxAdvancesItsClock() async throws {
        let sandbox = try await Sandbox.start(
            configuration: .init {
                $0.keepAlive = .seconds(3600)
                $0.clock = ManualClock()
            }
        )
        #expect(sandbox.advanceClock(by: .seconds(5)))
        await sandbox.stop()
        let other = try await Sandbox.start(configuration: .patient)
        #expect(!other.advanceClock(by: .seconds(5)))
        await other.stop()
    }
}
