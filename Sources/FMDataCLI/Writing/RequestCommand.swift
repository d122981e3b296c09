import ArgumentParser
import FMData
import Foundation
import OpenCombine

/// `fmdata request`: any call of the Data API.
struct RequestCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Sends any request to the database, and prints the answer.",
        discussion: """
            For what no other command does. The path begins below the database, percent-encoded where a name has a slash: \
            fmdata request GET 'layouts/Contacts/records?_limit=1'. The answer is printed as the host sent it; keys of containers \
            in it are good until the session ends.
            """
    )

    @Argument(help: "GET, POST, PATCH, PUT or DELETE.", transform: { $0.uppercased() })
    var method: String

    @Argument(help: "The path below the database, and its parameters: layouts/Contacts/_find.")
    var path: String

    @Argument(help: "The JSON of the body; @file is the content of a file, - is standard input.")
    var body: String?

    @Flag(help: .dryRun) var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let request = try request()
            let answer = try await write(visit) { database in
                (request.method == "GET" ? database.retrying() : database).rawAnswer(to: request)
            }
            guard let answer else { return }
            let output = StandardOutput()
            try output.write(answer)
            if answer.last != UInt8(ascii: "\n") { try output.write("\n") }
            try output.flush()
        }
    }

    private func request() throws -> DataAPI.RawRequest {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let names = (parts.first ?? "").split(separator: "/").map(Self.decoded)
        var query: [String: String] = [:]
        for parameter in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query[Self.decoded(pair[0])] = pair.count > 1 ? Self.decoded(pair[1]) : ""
        }
        return DataAPI.RawRequest(method, names, query: query, body: try content())
    }

    private static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }

    private func content() throws -> Data? {
        guard let body else { return nil }
        if body == "-" || body.hasPrefix("@") {
            return try FieldArguments.content(of: body == "-" ? body : String(body.dropFirst()))
        }
        return Data(body.utf8)
    }
}
