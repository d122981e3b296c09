import ArgumentParser
import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCLI

/// Where a command goes, and as whom: options, environment, profiles.
@Suite struct ProfileTests {
    private func place(
        _ options: String...,
        environment: [String: String] = [:],
        profiles: Profiles = Profiles(),
        passwords: [String: [String]] = [:],
        _ body: (Place, [String]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var environment = environment
            environment["HOME"] = folder.path
            let folders = UserFolders(environment: environment)
            try profiles.write(to: folders.profiles)
            var stored = try StoredPasswords(folders.passwords) { _ in }
            for (profile, entry) in passwords { try stored.set(entry[2], of: profile, host: entry[0], user: entry[1]) }
            let complaints = Locked<[String]>([])
            let place = try Place(try ConnectionOptions.parse(options), environment: environment) { text in
                complaints.change { $0.append(text) }
            }
            try await body(place, complaints.value)
        }
    }

    private static let harbor = Profile(host: "fms.example.com", database: "Harbor", user: "api")
    private static let profiles = Profiles(
        standard: "harbor",
        byName: ["harbor": harbor, "test": Profile(host: "http://127.0.0.1:3000", database: "Test", user: "tester")]
    )

    @Test func optionsPrecedeTheEnvironmentAndThatTheDefaultProfile() async throws {
        let environment = ["FM_DATABASE": "Archive", "FM_PASSWORD": "of the environment"]
        try await place("--user", "eve", environment: environment, profiles: Self.profiles) { place, _ in
            expectNoDifference(
                place.origins,
                [
                    "host from profile harbor", "database from FM_DATABASE", "user from --user",
                    "password from FM_PASSWORD",
                ]
            )
            expectNoDifference(
                [place.host, place.database, place.user],
                ["fms.example.com", "Archive", "eve"]
            )
            #expect(place.tokens == nil, "another account than the profile's")
        }
    }

    @Test func aProfileThatIsNamedPrecedesTheEnvironment() async throws {
        let environment = ["FM_HOST": "other.example.com", "FM_USER": "eve", "FM_PASSWORD": "hers"]
        try await place("--profile", "test", environment: environment, profiles: Self.profiles) { place, _ in
            expectNoDifference(
                [place.host, place.database, place.user],
                ["http://127.0.0.1:3000", "Test", "tester"]
            )
            #expect(place.password == nil, "the environment's password is for another host")
            #expect(place.tokens != nil)
        }
        try await place(environment: ["FMDATA_PROFILE": "test"], profiles: Self.profiles) { place, _ in
            #expect(place.host == "http://127.0.0.1:3000")
        }
    }

    @Test(
        arguments: [
            ("fm-a.example.com", "https://FM-A.example.com/"), ("https://fm-a.example.com:443", "fm-a.example.com"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000/"),
        ]
    )
    func aHostHasSeveralSpellings(_ given: String, _ host: String) async throws {
        let environment = ["FM_HOST": given, "FM_USER": "api", "FM_PASSWORD": "of a"]
        try await place("--host", host, environment: environment) { place, _ in
            expectNoDifference(awaited: try await place.knownPassword(), "of a")
        }
    }

    @Test(
        arguments: [
            (["--host", "fm-b.example.com"], "FM_HOST, https://fm-a.example.com, and is not sent to fm-b.example.com"),
            (["--host", "https://fm-a.example.com:8443"], "FM_HOST, https://fm-a.example.com, and is not sent to"),
            (["--host", "http://fm-a.example.com"], "FM_HOST, https://fm-a.example.com, and is not sent to"),
            (["--user", "eve"], "FM_USER, api, and is not sent for eve"),
        ]
    )
    func aPasswordOfTheEnvironmentIsForItsHostAndAccountAlone(_ options: [String], _ reason: String) async throws {
        let environment = [
            "FM_HOST": "https://fm-a.example.com", "FM_USER": "api", "FM_PASSWORD": "of a", "HOME": "/nowhere",
        ]
        let place = try Place(try ConnectionOptions.parse(options), environment: environment) { _ in }
        #expect(place.password == nil)
        let error = await #expect(throws: ValidationError.self) { try await place.knownPassword() }
        let message = error?.message ?? ""
        #expect(message.hasPrefix("FM_PASSWORD is for \(reason)") && message.contains("--password-file"), "\(message)")
    }

    @Test func aKeyOfTheEnvironmentIsForItsHostAlone() throws {
        let environment = ["FM_HOST": "fm-a.example.com", "FM_KEY": "of a", "HOME": "/nowhere"]
        let place = try Place(try ConnectionOptions.parse(["--host", "fm-b.example.com"]), environment: environment) {
            _ in
        }
        #expect(!place.hasKey)
        let error = #expect(throws: ValidationError.self) { try place.knownUser }
        #expect(error?.message.hasPrefix("FM_KEY is for FM_HOST, fm-a.example.com") == true)
    }

    @Test func nothingIsSentToAnotherHost() async throws {
        try await Home.with { home in
            let finished = try await home.asAdmin.setting(["FM_HOST": "https://fm-a.example.com"]).fmdata(
                "layouts",
                "--host",
                home.sandbox.url
            )
            #expect(finished.status == 64 && finished.errors.contains("is not sent to"), "\(finished.errors)")
            expectNoDifference(home.sandbox.counters.totalRequests, 0)
        }
    }

    @Test func theDefaultProfileIsLeftOutForAnotherHost() async throws {
        let passwords = ["harbor": ["fms.example.com", "api", "stored"]]
        try await place("--host", "other.example.com", profiles: Self.profiles, passwords: passwords) { place, _ in
            expectNoDifference([place.host, place.database, place.user], ["other.example.com", nil, nil])
            #expect(place.password == nil)
            #expect(place.tokens == nil)
        }
    }

    @Test func aStoredPasswordIsForItsHostAndAccountAlone() async throws {
        let passwords = ["harbor": ["fms.example.com", "api", "stored"]]
        try await place(profiles: Self.profiles, passwords: passwords) { place, _ in
            let password = try await place.knownPassword()
            #expect(password == "stored")
        }
        try await place("--user", "eve", profiles: Self.profiles, passwords: passwords) { place, _ in
            #expect(place.password == nil)
        }
        var moved = Self.profiles
        moved.byName["harbor"]?.host = "evil.example.com"
        try await place(profiles: moved, passwords: passwords) { place, _ in #expect(place.password == nil) }
    }

    @Test func aFileThatOthersCanReadIsIgnored() throws {
        try withTemporaryFolder { folder in
            let environment = ["HOME": folder.path]
            let folders = UserFolders(environment: environment)
            try Self.profiles.write(to: folders.profiles)
            var stored = try StoredPasswords(folders.passwords) { _ in }
            try stored.set("stored", of: "harbor", host: "fms.example.com", user: "api")
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folders.passwords.url.path)
            let complaints = Locked<[String]>([])
            let place = try Place(try ConnectionOptions.parse([]), environment: environment) { text in
                complaints.change { $0.append(text) }
            }
            #expect(place.password == nil)
            expectNoDifference(
                complaints.value,
                [
                    "\(folders.passwords.url.path) is ignored, since others can read it: chmod 600 it, and change the "
                        + "passwords in it."
                ]
            )
        }
    }

    // MARK: Sources of passwords

    @Test func aProgramPrintsThePassword() async throws {
        let words = ["sh", "-c", "printf 'first \"line\"\\nsecond\\n'"]
        let password = try await PasswordSource.command(words).read()
        #expect(password == #"first "line""#)
        await #expect(throws: CommandError("sh, which prints the password, failed with status 3.")) {
            try await PasswordSource.command(["sh", "-c", "echo canary; exit 3"]).read()
        }
        await #expect(throws: CommandError("The password_command of the profile is empty.")) {
            try await PasswordSource.command([]).read()
        }
    }

    @Test func aFileHoldsThePassword() async throws {
        try await withTemporaryFile(Data("pass word\r\nnote\n".utf8)) { path in
            let password = try await PasswordSource.file(path).read()
            #expect(password == "pass word")
        }
        let error = await #expect(throws: (any Error).self) { try await PasswordSource.file("/nowhere/p").read() }
        let text = error.map { "\($0)" }
        #expect(text == "cannot read the password from /nowhere/p: No such file or directory")
    }

    @Test func aNetrcFileHoldsPasswordsByHostAndAccount() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(folder.appendingPathComponent("elsewhere/netrc"))
            try file.write(Data("machine fms.example.com login api password netrc".utf8))
            let link = folder.appendingPathComponent("netrc")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file.url)
            let complaints = Locked<[String]>([])
            func place(_ options: String..., environment: [String: String] = [:]) throws -> Place {
                let home = ["HOME": folder.path, "NETRC": link.path]
                return try Place(
                    try ConnectionOptions.parse(options),
                    environment: environment.merging(home) { $1 }
                ) { text in
                    complaints.change { $0.append(text) }
                }
            }
            for host in ["fms.example.com", "https://FMS.example.com:8443/"] {
                let place = try place("--host", host, "--user", "api")
                #expect(place.origins.last == "password from \(link.path)")
                let password = try await place.knownPassword()
                #expect(password == "netrc")
            }
            #expect(try place("--host", "fms.example.com", "--user", "eve").password == nil)
            #expect(try place("--host", "example.com", "--user", "api").password == nil)
            let environment = ["FM_PASSWORD": "of the environment"]
            let other = try place("--host", "fms.example.com", "--user", "api", environment: environment)
            #expect(other.origins.last == "password from FM_PASSWORD")
            expectNoDifference(complaints.value, [])

            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.url.path)
            #expect(try place("--host", "fms.example.com", "--user", "api").password == nil)
            expectNoDifference(
                complaints.value,
                ["\(link.path) is ignored, since others can read it: chmod 600 it."]
            )
        }
    }

    @Test(
        arguments: [
            ("machine h login u password p", "p"),
            ("machine h\n\tlogin u\n\tpassword p\n", "p"),
            ("# machine h login u password x\n  machine H password p#1 account a login u", "p#1"),
            (#"machine h login "u" password "a \"b\" \\ c""#, #"a "b" \ c"#),
            ("machine h login eve password x machine h login u password p", "p"),
            ("machine h login u password p machine h login u password x", "p"),
            ("macdef init\nmachine h login u password x\n\nmachine h login u password p", "p"),
            ("machine h login u", nil),
            ("machine h password p", nil),
            ("default login u password p", nil),
            ("machine h machine g login u password p", nil),
            ("login u password p", nil),
            ("machine h login u password", nil),
            ("machine h login u password \"p", "p"),
            ("macdef", nil),
            ("", nil),
        ]
    )
    func netrcFiles(_ text: String, _ password: String?) {
        #expect(NetrcFile(text).password(host: "h", user: "u") == password)
    }

    // MARK: The file

    @Test(
        arguments: [
            (
                #"{"profiles": {"a": {"host": "x", "hots": 1}}}"#,
                #"profiles.a: unknown member "hots"; did you mean "host"?"#
            ),
            (#"{"profile": {}}"#, #"unknown member "profile"; did you mean "profiles"?"#),
            (#"{"profiles": {"a": {}}}"#, #"profiles.a: "host" is missing"#),
            (#"{"profiles": {"a": {"host": 1}}}"#, "profiles.a.host: it is not a text"),
            (#"{"profiles": {"a": {"host": "x", "pins": "y"}}}"#, "profiles.a.pins: it is not a list"),
            ("{", "it is no JSON"),
        ]
    )
    func mistakesInTheFileAreNamed(_ text: String, _ reason: String) throws {
        try withTemporaryFile(Data(text.utf8)) { path in
            let error = #expect(throws: CommandError.self) { try Profiles(contentsOf: URL(fileURLWithPath: path)) }
            expectNoDifference(error?.description, "\(path): \(reason)")
        }
    }

    @Test func theNearestProfileIsNamed() throws {
        let error = #expect(throws: CommandError.self) { try Self.profiles.named("habor") }
        expectNoDifference(error, CommandError(#"There is no profile "habor". Did you mean "harbor"?"#, .usage))
        let none = #expect(throws: CommandError.self) { try Profiles().named("x") }
        expectNoDifference(
            none,
            CommandError(#"There is no profile "x". There is none yet: fmdata login makes one."#, .usage)
        )
    }

    @Test func aCallThatMayTakeLongMayConnectForLong() async throws {
        let environment = ["FM_HOST": "fms.example.com"]
        try await place(environment: environment) { place, _ in
            let timeouts = try place.server().config.timeouts
            expectNoDifference(timeouts.connect, .seconds(10))
        }
        try await place(environment: environment.merging(["FM_TIMEOUT": "120"]) { $1 }) { place, _ in
            let timeouts = try place.server().config.timeouts
            expectNoDifference(timeouts.connect, .seconds(120))
            expectNoDifference(timeouts.total, .seconds(120))
        }
    }

    @Test func foldersAreThoseOfTheSpecification() {
        let home = UserFolders(environment: ["HOME": "/h"])
        #expect(home.profiles.path == "/h/.config/fmdata/config.json")
        #expect(home.tokens.path == "/h/.local/state/fmdata/sessions.json")
        let others = UserFolders(
            environment: ["HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r"]
        )
        #expect(others.passwords.url.path == "/c/fmdata/credentials.json")
        #expect(others.tokens.path == "/r/fmdata/sessions.json")
        let relative = UserFolders(environment: ["HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "/s"])
        #expect(relative.profiles.path == "/h/.config/fmdata/config.json")
        #expect(relative.tokens.path == "/s/fmdata/sessions.json")
    }
}
