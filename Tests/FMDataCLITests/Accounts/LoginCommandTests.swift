import CustomDump
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// `fmdata login` and `fmdata logout`, and what other commands have of them.
@Suite(.timeLimit(.minutes(15))) struct LoginCommandTests {
    private static let sessions = ".local/state/fmdata/sessions.json"
    private static let profiles = ".config/fmdata/config.json"
    private static let passwords = ".config/fmdata/credentials.json"

    private func fetch(_ home: Home, _ arguments: String...) async throws -> FinishedProgram {
        try await FinishedProgram.run(
            ["schema", "fetch", "Contacts", "--models", home.folder.path] + arguments,
            environment: ["HOME": home.folder.path].merging(home.environment) { $1 }
        )
    }

    @Test(.thorough) func aCommandAfterItCostsNoLogin() async throws {
        try await Home.with { home in
            let login = try await home.asAdmin.fmdata("login", "world")
            expectNoDifference(
                login,
                FinishedProgram(
                    status: 0,
                    output: "",
                    errors: "Logged in as admin on \(home.sandbox.url), profile \"world\": World with 5 layouts.\n"
                )
            )
            #expect(home.sandbox.counters.logins == 1)
            // No password is known here.
            let fetched = try await fetch(home)
            #expect(fetched.status == 0, "\(fetched.errors)")
            #expect(home.sandbox.counters.logins == 1)
            #expect(home.sandbox.counters.logouts == 0)
            #expect(home.sandbox.counters.openSessions == 1)

            let logout = try await home.fmdata("logout")
            expectNoDifference(
                logout,
                FinishedProgram(status: 0, output: "", errors: "The session of \"world\" has ended.\n")
            )
            #expect(home.sandbox.counters.openSessions == 0)
            let again = try await home.fmdata("logout")
            #expect(again.errors == "No session was kept.\n")
            let refused = try await fetch(home)
            #expect(refused.status == 64)
            #expect(refused.errors.hasPrefix("Error: The password of admin is missing: set FM_PASSWORD"))
        }
    }

    @Test(.thorough) func filesAreTheUsersAlone() async throws {
        try await Home.with { home in
            _ = try await home.asAdmin.fmdata("login", "--save-password")
            for file in [Self.sessions, Self.profiles, Self.passwords] {
                #expect(try home.mode(file) == 0o600, "\(file)")
            }
            for folder in [".local/state/fmdata", ".config/fmdata"] { #expect(try home.mode(folder) == 0o700) }
            #expect(home.text(Self.passwords)?.contains("secret") == true)
            #expect(home.text(Self.profiles)?.contains("secret") == false)
            // The session has ended on the host: the stored password opens another one.
            home.sandbox.expireSessions()
            #expect(try await fetch(home).status == 0)
            #expect(home.sandbox.counters.logins == 2)
            let forgotten = try await home.fmdata("logout", "--forget")
            #expect(forgotten.errors == "The session of \"World\" has ended.\nThe profile \"World\" is forgotten.\n")
            #expect(home.text(Self.passwords)?.contains("secret") == false)
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test func aWrongPasswordStoresNothing() async throws {
        try await Home.with { home in
            let wrong = try await home.asAdmin.setting(["FM_PASSWORD": "wrong canary"]).fmdata("login")
            #expect(wrong.status == 4)
            #expect(!wrong.errors.contains("canary"))
            #expect(home.text(Self.profiles) == nil)
            // A session that is still open does not hide it.
            _ = try await home.asAdmin.fmdata("login")
            let later = try await home.asAdmin.setting(["FM_PASSWORD": "wrong"]).fmdata("login")
            #expect(later.status == 4)
        }
    }

    /// A session that is still open does not hide a wrong password of another command.
    @Test func aPasswordThatIsGivenIsTried() async throws {
        try await Home.with { home in
            _ = try await home.asAdmin.fmdata("login")
            let wrong = try await home.asAdmin.setting(["FM_PASSWORD": "wrong"]).fmdata("layouts")
            #expect(wrong.status == 4, "\(wrong)")
            try Data("wrong\n".utf8).write(to: home.file("password"))
            #expect(try await home.fmdata("layouts", "--password-file", home.file("password").path).status == 4)
            #expect(try await home.fmdata("layouts", "--password-stdin", input: "wrong\n").status == 4)
            #expect(try await home.asAdmin.fmdata("layouts").status == 0)
            #expect(try await home.fmdata("layouts").status == 0, "the kept session is left alone")
            expectNoDifference(home.sandbox.counters.openSessions, 1)
        }
    }

    @Test func logoutEndsTheSessionsOfAllDatabases() async throws {
        var second = Solution.sample
        second.name = "Second"
        try await Home.with(solutions: [.sample, second]) { home in
            _ = try await home.asAdmin.fmdata("login", "--save-password")
            #expect(try await home.fmdata("layouts", "--database", "Second").status == 0)
            expectNoDifference(home.sandbox.counters.openSessions, 2)
            let logout = try await home.setting(["FM_PASSWORD": "wrong"]).fmdata("logout")
            expect(logout, "", errors: "The session of \"World\" has ended.\n")
            expectNoDifference(home.sandbox.counters.openSessions, 0)
        }
    }

    /// What a command leaves behind that was killed is not there for 15 minutes.
    @Test func theSessionOfAKilledCommandIsEndedByTheNext() async throws {
        try await Home.with { home in
            home.sandbox.inject(.holdAnswer, on: .layouts)
            let killed = try await home.asAdmin.fmdata(
                ["layouts"],
                endingBy: SIGKILL,
                when: {
                    await home.sandbox.untilAnswersHeld()
                    // The token is noted right after the login, beside the first call.
                    await until { (try? Self.kept(home).count) == 1 }
                }
            )
            #expect(killed.status != 0)
            home.sandbox.releaseAnswers()
            expectNoDifference(home.sandbox.counters.openSessions, 1)
            expectNoDifference(try Self.kept(home).count, 1)
            for file in try Self.kept(home) { expectNoDifference(try home.mode(file), 0o600) }
            let next = try await home.asAdmin.fmdata("scripts")
            #expect(next.status == 0, "\(next.errors)")
            expectNoDifference(home.sandbox.counters.openSessions, 0)
            expectNoDifference(home.sandbox.counters.logins, 2)
            expectNoDifference(try Self.kept(home), [])
        }
    }

    /// The session of a command that still runs is left alone.
    @Test func theSessionOfARunningCommandIsNotEnded() async throws {
        try await Home.with { home in
            home.sandbox.inject(.holdAnswer, on: .layouts)
            async let running = home.asAdmin.fmdata("layouts", "--csv")
            await home.sandbox.untilAnswersHeld()
            let other = try await home.asAdmin.fmdata("scripts")
            expectNoDifference(other.status, 0)
            expectNoDifference(home.sandbox.counters.openSessions, 1)
            home.sandbox.releaseAnswers()
            let end = try await running
            expectNoDifference(end.status, 0)
            expectNoDifference(home.sandbox.counters.openSessions, 0)
        }
    }

    /// The files of running commands.
    private static func kept(_ home: Home) throws -> [String] {
        let folder = ".local/state/fmdata/running"
        return try FileManager.default.contentsOfDirectory(atPath: home.file(folder).path).map { "\(folder)/\($0)" }
    }

    @Test func checkingWritesNothing() async throws {
        try await Home.with { home in
            let check = try await home.asAdmin.fmdata("login", "--check")
            expectNoDifference(
                check,
                FinishedProgram(
                    status: 0,
                    output: "",
                    errors: "admin on \(home.sandbox.url) opens World and sees 5 layouts.\n"
                )
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: home.folder.path) == [])
            #expect(home.sandbox.counters.openSessions == 0)
        }
    }

    @Test(.thorough) func withoutAProfileEachCommandEndsItsSession() async throws {
        try await Home.with { home in
            #expect(try await fetch(home.asAdmin).status == 0)
            #expect(home.sandbox.counters.openSessions == 0)
            _ = try await home.asAdmin.fmdata("login", "--end-sessions", "--save-password")
            #expect(try await fetch(home).status == 0)
            #expect(home.sandbox.counters.openSessions == 0)
            #expect(home.text(Self.sessions) == nil)
        }
    }

    @Test func aFileOfTokensThatOthersCanReadIsNotUsed() async throws {
        try await Home.with { home in
            _ = try await home.asAdmin.fmdata("login", "--save-password")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644],
                ofItemAtPath: home.file(Self.sessions).path
            )
            let fetched = try await fetch(home)
            #expect(fetched.status == 0)
            #expect(fetched.errors == "The session is not kept: its file cannot be used.\n")
            #expect(home.sandbox.counters.logins == 2)
            #expect(home.sandbox.counters.openSessions == 1, "only that of the login")
        }
    }

    @Test(.thorough) func thePasswordComesFromElsewhere() async throws {
        try await Home.with { home in
            let home = home.setting(["FM_HOST": home.sandbox.url, "FM_DATABASE": "World", "FM_USER": "admin"])
            try Data("secret\n".utf8).write(to: home.file("password"))
            let byFile = try await home.fmdata("login", "byFile", "--password-file", home.file("password").path)
            #expect(byFile.status == 0, "\(byFile.errors)")
            let byInput = try await home.fmdata("login", "byInput", "--password-stdin", input: "secret\nmore\n")
            #expect(byInput.status == 0, "\(byInput.errors)")
            let byProgram = try await home.fmdata(
                "login",
                "byProgram",
                "--default",
                "--password-command",
                "cat",
                home.file("password").path
            )
            #expect(byProgram.status == 0, "\(byProgram.errors)")
            let stored = try Profiles(contentsOf: home.file(Self.profiles))
            expectNoDifference(stored.standard, "byProgram")
            expectNoDifference(stored.byName["byFile"]?.passwordFile, home.file("password").path)
            expectNoDifference(stored.byName["byProgram"]?.passwordCommand, ["cat", home.file("password").path])
            home.sandbox.expireSessions()
            #expect(try await fetch(home).status == 0)
        }
    }

    @Test func aPasswordInTheArgumentsIsRefused() async throws {
        try await Home.with { home in
            let refused = try await home.asAdmin.fmdata("login", "--password", "secret")
            #expect(refused.status == 64)
            #expect(refused.errors.hasPrefix("Error: A password in the arguments can be read by all users"))
            #expect(home.sandbox.counters.logins == 0)
            let help = try await home.fmdata("login", "--help")
            #expect(!help.output.contains("--password "))
        }
    }

    @Test(.thorough) func aKeyIsPinned() async throws {
        try await Home.with(.init { $0.tls = true }) { home in
            let authority = try #require(home.sandbox.certificateAuthorityFile)
            let login = try await home.asAdmin.fmdata("login", "--pin", "--save-password", "--ca", authority)
            #expect(login.status == 0, "\(login.errors)")
            var profiles = try Profiles(contentsOf: home.file(Self.profiles))
            let pin = try #require(profiles.byName["World"]?.pins?.first)
            #expect(login.errors.hasSuffix("From now on only the key \(pin) is accepted.\n"))
            #expect(try await fetch(home).status == 0)

            profiles.byName["World"]?.pins = [Data(repeating: 7, count: 32).base64EncodedString()]
            try profiles.write(to: home.file(Self.profiles))
            let other = try await fetch(home)
            #expect(other.status == 5)
            #expect(other.errors.contains("pin the new one: fmdata login --pin."), "\(other.errors)")
            #expect(try await home.asAdmin.fmdata("login", "--pin").status == 0)
            #expect(try await fetch(home).status == 0)
        }
        try await Home.with { home in
            let plain = try await home.asAdmin.fmdata("login", "--pin")
            #expect(
                plain
                    == FinishedProgram(
                        status: 64,
                        output: "",
                        errors: "Error: --pin needs HTTPS: this host shows no certificate.\n"
                    )
            )
        }
    }

    // MARK: At a terminal

    #if os(Linux)
    @Test(.thorough) func whatIsMissingIsAskedForAndThePasswordIsNotShown() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            async let login = home.fmdata("login", terminal: terminal)
            for (question, answer) in [
                ("Host: ", home.sandbox.url), ("Database: ", "World"), ("Account: ", "admin"),
                ("Password of admin on \(home.sandbox.url): ", "secret"),
            ] {
                _ = await terminal.text(until: question)
                terminal.type(answer)
            }
            #expect(try await login.status == 0)
            let text = await terminal.allText()
            #expect(
                text.hasSuffix("Logged in as admin on \(home.sandbox.url), profile \"World\": World with 5 layouts.\n")
            )
            #expect(!text.contains("secret"))
            // The session is open, so nothing is asked.
            let second = try Terminal()
            let fetched = try await home.fmdata(
                "schema",
                "fetch",
                "Contacts",
                "--models",
                home.folder.path,
                terminal: second
            )
            #expect(fetched.status == 0)
            #expect(await second.allText() == "")
        }
    }

    @Test func aQuestionEndsWithCtrlC() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let (started, continuation) = AsyncStream<Int32>.makeStream()
            async let login = FinishedProgram.run(
                ["login", "--host", home.sandbox.url, "--database", "World", "--user", "admin"],
                environment: ["HOME": home.folder.path],
                terminal: terminal,
                started: { continuation.yield($0) }
            )
            _ = await terminal.text(until: "Password of admin")
            for await process in started {
                kill(process, SIGINT)
                break
            }
            #expect(try await login.status == 130)
            #expect(terminal.echoes)
        }
    }

    @Test func promptsCanBeTurnedOff() async throws {
        try await Home.with { home in
            let terminal = try Terminal()
            let home = home.setting(["FMDATA_NO_PROMPT": "1", "FM_HOST": home.sandbox.url])
            let login = try await home.fmdata("login", terminal: terminal)
            #expect(login.status == 64)
            #expect(await terminal.allText().hasPrefix("Error: Which database?"))
        }
    }
    #endif
}
