import AsyncHTTPClient
import FMSandbox
import Foundation
import NIOCore
import NIOHTTP1

/// The sandbox with 10,000 records: finds that must examine all of them, and pages from the middle, one call after the
/// other.
///
/// Figures are calls a second, under `sandbox.<find_text|find_words|find_number|page_100|page_1000>`. The client reads
/// answers without parsing them, so that the sandbox is measured.
enum SandboxSuite: Suite {
    static let name = "sandbox"

    private static let recordCount = 10_000
    private static let records = "layouts/People/records"

    private static let cases: [(name: String, method: HTTPMethod, target: String, body: String)] = [
        ("find_text", .POST, "layouts/People/_find", #"{"query":[{"City":"==Paris"}],"limit":"100"}"#),
        ("find_words", .POST, "layouts/People/_find", #"{"query":[{"Notes":"*branch*"}],"limit":"100"}"#),
        ("find_number", .POST, "layouts/People/_find", #"{"query":[{"Balance":"100...200"}],"limit":"100"}"#),
        ("page_100", .GET, "\(records)?_offset=5001&_limit=100", ""),
        ("page_1000", .GET, "\(records)?_offset=5001&_limit=1000", ""),
    ]

    static func run(_ report: inout Report, _ options: Options) async throws {
        let sandbox = try await Sandbox.start([solution])
        let client = try await Client(sandbox.url)
        let competitors = cases.filter { options.measures($0.name) }.map { name, method, target, body in
            Competitor(name) { count in
                for _ in 0..<count { try await client.call(method, target, body) }
            }
        }
        let figures = try await compare(competitors, sample: 10, rounds: options.rounds, secondsPerTurn: 0.3)
        for (name, figure) in figures { report["sandbox.\(name)"] = figure }
        printTable("the sandbox with \(recordCount) records", unit: "calls/s", rows: figures)
        try await client.stop()
        await sandbox.stop()
    }

    private static var solution: Solution {
        let cities = ["Calgary", "Zürich", "San Francisco", "København", "Paris", "東京"]
        let notes = ["Regular customer since the opening of the second branch", "Called on Monday"]
        let fields: [Solution.Field] = [
            .init("Name"), .init("City"), .init("Notes"), .init("Balance", .number), .init("Born", .date),
        ]
        let records = (0..<recordCount).map { number in
            Solution.Record([
                "Name": "Person \(number)", "City": cities[number % cities.count], "Notes": notes[number % notes.count],
                "Balance": "\(number).25", "Born": "0\(1 + number % 9)/1\(number % 10)/19\(50 + number % 50)",
            ])
        }
        return Solution(
            name: "Harbor",
            tables: [.init(name: "People", fields: fields, records: records)],
            layouts: [.layout(.init(name: "People", table: "People", fields: fields.map { .init($0.name) }))],
            accounts: [.init(name: "bench", password: "bench")]
        )
    }

    /// One session.
    private struct Client {
        private let client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton)
        private let database: String
        private var authorization: String

        init(_ url: String) async throws {
            database = "\(url)/fmi/data/vLatest/databases/Harbor"
            authorization = "Basic \(Data("bench:bench".utf8).base64EncodedString())"
            let answer = try await call(.POST, "sessions", "{}")
            guard let token = answer.headers.first(name: "X-FM-Data-Access-Token") else { throw NoToken() }
            authorization = "Bearer \(token)"
        }

        @discardableResult
        func call(_ method: HTTPMethod, _ target: String, _ body: String) async throws -> HTTPClientResponse {
            var request = HTTPClientRequest(url: "\(database)/\(target)")
            request.method = method
            request.headers = ["Content-Type": "application/json", "Authorization": authorization]
            if method == .POST { request.body = .bytes(ByteBuffer(string: body)) }
            let response = try await client.execute(request, timeout: .seconds(60))
            let length = try await response.body.collect(upTo: 64 * 1024 * 1024).readableBytes
            guard response.status == .ok else { throw WrongAnswer(status: Int(response.status.code), bytes: length) }
            return response
        }

        func stop() async throws { try await client.shutdown() }

        private struct NoToken: Error {}
    }
}
