import ArgumentParser
import CustomDump
import FMSandbox
import Foundation
import Testing

@testable import FMDataCLI

@Suite struct SandboxCommandTests {
    private func command(_ arguments: String...) throws -> SandboxCommand { try SandboxCommand.parse(arguments) }

    @Test func withoutOptionsTheSolutionDecides() throws {
        let configuration = try command().sandboxConfiguration
        #expect(configuration.port == 0)
        #expect(!configuration.tls)
        #expect(configuration.maximumSessions == 500)
        #expect(configuration.latency == nil)
        #expect(configuration.loginThrottling == nil)
        #expect(configuration.serverVersion == nil)
        #expect(configuration.findPastEnd == nil)
        #expect(configuration.dataSourceWithoutAccount == nil)
        #expect(configuration.ignoresNameCase == nil)
        #expect(configuration.containerStreaming == nil)
        #expect(configuration.certificate == .loopback)
        #expect(configuration.sessionLifetime == nil)
        #expect(configuration.keepAlive == nil)
        #expect(configuration.compression == nil)
        #expect(configuration.timeZone == nil)
        #expect(try command().solutions().map(\.name) == ["World"])
    }

    @Test func everyOptionReachesTheSandbox() throws {
        let configuration = try command(
            "--port",
            "3000",
            "--tls",
            "--max-sessions",
            "3",
            "--login-attempts",
            "4",
            "--latency",
            "250",
            "--server-version",
            "18",
            "--find-past-end",
            "empty",
            "--data-source-without-account",
            "802",
            "--ignore-name-case",
            "--open-containers",
            "--session-lifetime",
            "60",
            "--keep-alive",
            "0.5",
            "--no-compression",
            "--time-zone",
            "Europe/Berlin"
        )
        .sandboxConfiguration
        #expect(configuration.port == 3000)
        #expect(configuration.tls)
        #expect(configuration.maximumSessions == 3)
        #expect(configuration.loginThrottling == .init(attempts: 4))
        #expect(configuration.latency == .milliseconds(250))
        #expect(configuration.serverVersion == .v18)
        #expect(configuration.findPastEnd == .emptyPage)
        #expect(configuration.dataSourceWithoutAccount == .fileNotOpened)
        #expect(configuration.ignoresNameCase == true)
        #expect(configuration.containerStreaming == .open)
        #expect(configuration.sessionLifetime == .seconds(60))
        #expect(configuration.keepAlive == .milliseconds(500))
        #expect(configuration.compression == false)
        #expect(configuration.timeZone?.identifier == "Europe/Berlin")
    }

    @Test func certificatesAreChosen() throws {
        let files = try command("--tls", "--certificate", "c.pem", "--key", "k.pem").sandboxConfiguration
        #expect(files.certificate == .files(certificate: "c.pem", key: "k.pem"))
        #expect(try command("--tls").sandboxConfiguration.certificate == .loopback)
    }

    @Test func anAccountIsAddedToEveryDatabase() throws {
        let accounts = try command("--user", "ADMIN", "--password", "other").solutions()[0].accounts
        #expect(accounts.filter { $0.name.lowercased() == "admin" }.map(\.password) == ["other"])
    }

    @Test func anEmptyPasswordIsAskedForOutLoud() throws {
        let accounts = try command("--user", "tester", "--password", "").solutions()[0].accounts
        #expect(accounts.filter { $0.name == "tester" }.map(\.password) == [""])
    }

    @Test(arguments: [
        ["--port", "70000"], ["--max-sessions", "-1"], ["--max-sessions", "0"], ["--login-attempts", "-1"],
        ["--latency", "-1"],
        ["--server-version", "20"], ["--find-past-end", "102"], ["--data-source-without-account", "213"],
        ["--fault", "nonsense"], ["--password", "x"],
        ["--session-lifetime", "0"], ["--keep-alive", "x"], ["--time-zone", "Berlin"],
        ["--tls", "--certificate", "c.pem"], ["--tls", "--key", "k.pem"], ["--certificate", "c.pem", "--key", "k.pem"],
    ])
    func nonsenseIsRefused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try SandboxCommand.parse(arguments) }
    }

    @Test func faultsAreInjectedInTheirOrder() throws {
        let faults = try command("--fault", "find:html502+1*2", "--fault", "reset*always").fault.map(\.rule)
        expectNoDifference(
            faults,
            [.init(.html(status: 502), on: .find, skipping: 1, count: 2), .init(.reset, count: nil)]
        )
    }
}
