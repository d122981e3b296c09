import ArgumentParser
import FMData

/// `fmdata databases`: the databases of a host.
struct DatabasesCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "databases",
        abstract: "Lists the databases of a host.",
        discussion: """
            With an account those that it may open; without one those that the host shows to everybody. If it shows none, an \
            account is needed.
            """
    )

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let place = try await visit.place()
            let server = try await visit.openServer().retrying()
            // The session of a profile does not count here, and its account may not be worth a question.
            let isQuestion = place.password?.source.isQuestion ?? false
            let isKnown = place.hasKey || place.user != nil && place.password != nil
            func names(asAccount: Bool) async throws -> [String] {
                let credentials = asAccount ? try await place.credentials() : nil
                return try await server.getDatabaseNames(credentials: credentials).firstValue().databases.map(\.name)
            }
            var databases = try await names(asAccount: isKnown && !isQuestion)
            if databases.isEmpty, !isKnown || isQuestion { databases = try await names(asAccount: true) }
            let rows = databases.map { OutputRow(cells: [$0], object: ["database": .text($0)]) }
            try printer([OutputColumn("database")]).printAll(rows)
        }
    }
}
