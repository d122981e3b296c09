import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// A server and a database from variables: what is read, and what is said when it cannot be.
@Suite(.timeLimit(.minutes(15)))
struct EnvironmentTests {
    private static let complete = [
        "FM_HOST": "fms.example.com", "FM_DATABASE": "World", "FM_USER": "api", "FM_PASSWORD": "sesame",
    ]

    private func database(
        _ changes: [String: String?],
        prefix: String = "FM_"
    ) throws(DataAPI.EnvironmentError) -> DataAPI.Database {
        var variables = Self.complete
        for (name, value) in changes { variables[name] = value }
        return try DataAPI.Server(environment: variables, prefix: prefix)
            .addDatabase(environment: variables, prefix: prefix)
    }

    private func problems(_ changes: [String: String?]) -> [String] {
        let error = #expect(throws: DataAPI.EnvironmentError.self) { try database(changes) }
        return error?.problems.map(\.description) ?? []
    }

    @Test func fourVariablesAreEnough() throws {
        let database = try database([:])
        expectNoDifference(database.server.host, "fms.example.com")
        expectNoDifference(database.name, "World")
        expectNoDifference(database.credentials, Credentials(user: "api", password: "sesame"))
        expectNoDifference(database.server.config.sessions.maximumSessions, 8)
        expectNoDifference(database.server.config.tls.roots, DataAPI.TLS().roots)
    }

    @Test func whatIsSetChangesTheConfigurationAndNothingElseDoes() throws {
        let variables = Self.complete.merging([
            "FM_CA": "/etc/ca.pem", "FM_ROOT_PATH": "/otto/fmi/data", "FM_SESSIONS": "3", "FM_TIMEOUT": "20",
        ]) { $1 }
        var config = DataAPI.Config()
        config.userAgent = "invoices"
        config.timeouts.connect = .seconds(2)
        let read = try DataAPI.Server(environment: variables, config: config).config
        expectNoDifference(read.tls.roots, .systemAnd(file: "/etc/ca.pem"))
        expectNoDifference(read.rootPath, "/otto/fmi/data")
        expectNoDifference(read.sessions.maximumSessions, 3)
        expectNoDifference(read.timeouts.total, .seconds(20))
        expectNoDifference(read.timeouts.connect, .seconds(2))
        expectNoDifference(read.userAgent, "invoices")
    }

    @Test func aPrefixTellsServersApart() throws {
        let variables = [
            "FM_NORTH_HOST": "north.example.com", "FM_NORTH_DATABASE": "Orders", "FM_NORTH_KEY": "dk_1",
            "FM_HOST": "another.example.com",
        ]
        let north = try DataAPI.Server(environment: variables, prefix: "FM_NORTH_")
            .addDatabase(environment: variables, prefix: "FM_NORTH_")
        expectNoDifference(north.server.host, "north.example.com")
        expectNoDifference(north.credentials, .key("dk_1"))
    }

    @Test func whatIsMissingIsNamedAllAtOnce() {
        let server = #expect(throws: DataAPI.EnvironmentError.self) { try DataAPI.Server(environment: [:]) }
        expectNoDifference(server?.problems.map(\.description), ["FM_HOST is missing"])
        let database = #expect(throws: DataAPI.EnvironmentError.self) {
            try DataAPI.Server(host: "fms.example.com").addDatabase(environment: [:])
        }
        expectNoDifference(
            database?.problems.map(\.description),
            ["FM_DATABASE is missing", "FM_USER is missing", "FM_PASSWORD is missing"]
        )
        expectNoDifference(database?.problems.map(\.isMissing), [true, true, true])
        expectNoDifference(
            database?.localizedDescription,
            "FM_DATABASE is missing; FM_USER is missing; FM_PASSWORD is missing"
        )
    }

    @Test func anEmptyValueIsMissingUnlessItIsAPassword() throws {
        expectNoDifference(problems(["FM_HOST": ""]), ["FM_HOST is missing"])
        expectNoDifference(problems(["FM_USER": ""]), ["FM_USER is missing"])
        expectNoDifference(
            try database(["FM_PASSWORD": ""]).credentials,
            Credentials(user: "api", password: "")
        )
    }

    @Test func aPasswordComesFromAFile() throws {
        try withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("password")
            for content in ["from a file", "from a file\n", "from a file\r\n"] {
                try Data(content.utf8).write(to: file)
                expectNoDifference(
                    try database(["FM_PASSWORD": nil, "FM_PASSWORD_FILE": file.path]).credentials,
                    Credentials(user: "api", password: "from a file")
                )
                expectNoDifference(
                    try database(["FM_USER": nil, "FM_PASSWORD": nil, "FM_KEY_FILE": file.path]).credentials,
                    .key("from a file")
                )
            }
            try Data().write(to: file)
            expectNoDifference(
                problems(["FM_USER": nil, "FM_KEY_FILE": file.path]),
                ["FM_KEY_FILE must name a file that is not empty"]
            )
        }
    }

    /// Neither the value of a variable nor the content of a file is in any form of the error.
    @Test func anErrorNamesTheVariableAndNeverItsValue() throws {
        let wrong: [(variable: String, value: String, reason: String)] = [
            ("HOST", "api:canary@fms.example.com", "must be a host alone, as in fms.example.com"),
            ("HOST", "canary/fmi", "must be a host alone, as in fms.example.com"),
            ("ROOT_PATH", "canary", "must be a path, as in /otto/fmi/data"),
            ("SESSIONS", "canary", "must be a number from 1 to 1000"),
            ("SESSIONS", "0", "must be a number from 1 to 1000"),
            ("TIMEOUT", "canary", "must be a number from 1 to 86400"),
            ("KEY", "canary", "excludes a user"),
        ]
        for (variable, value, reason) in wrong {
            let error = #expect(throws: DataAPI.EnvironmentError.self) { try database(["FM_" + variable: value]) }
            expectNoDifference(error?.problems.map(\.description), ["FM_\(variable) \(reason)"])
            expectNoDifference(error?.problems.map(\.isMissing), [false])
            guard let error else { continue }
            for text in ["\(error)", error.localizedDescription, String(reflecting: error), dumped(error)] {
                #expect(!text.contains("canary"), "\(text)")
            }
        }
        expectNoDifference(
            problems(["FM_PASSWORD": nil, "FM_PASSWORD_FILE": "/canary"]),
            ["FM_PASSWORD_FILE must name a file that can be read"]
        )
        expectNoDifference(
            problems(["FM_PASSWORD_FILE": "/canary"]),
            ["FM_PASSWORD and FM_PASSWORD_FILE exclude each other"]
        )
    }

    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }
}
