import CustomDump
import Testing

@testable import FMDataCLI

/// What Tab completes in the shell.
struct ShellCompletionTests {
    private static let help = Result { try CommandHelp(of: ShellRoot.self) }

    private func completion(_ line: String) throws -> ShellCompletion {
        ShellCompletion(of: line, try Self.help.get())
    }

    @Test(
        arguments: [
            ("find ", .layouts), ("fmdata find Con", .layouts), (#"\d Con"#, .layouts), ("find --all Con", .layouts),
            ("container get Con", .layouts), ("container get Contacts 1 Ph", .fields(layout: "Contacts", sign: "")),
            ("find Contacts Ci", .fields(layout: "Contacts", sign: "=")),
            ("find Contacts City=x --or Ci", .fields(layout: "Contacts", sign: "=")),
            ("find 'A B' Ci", .fields(layout: "A B", sign: "=")),
            ("find Contacts --sort City,-Na", .fields(layout: "Contacts", sign: "")),
            ("find Contacts --sort=Na", .fields(layout: "Contacts", sign: "")),
            ("find --limit 3 Contacts --fields ", .fields(layout: "Contacts", sign: "")),
            ("find --limit=3 Contacts C", .fields(layout: "Contacts", sign: "=")),
            ("edit Contacts 1 Na", .fields(layout: "Contacts", sign: "=")),
            ("create Contacts Na", .fields(layout: "Contacts", sign: "=")), ("script Contacts Ec", .scripts),
            ("export Contacts --key I", .fields(layout: "Contacts", sign: "")), ("get Contacts ", .nothing),
            ("find Contacts --limit ", .nothing), ("nonsense x", .nothing), (#"\x o"#, .nothing),
        ] as [(String, ShellCompletion.Kind)]
    )
    func whichNames(_ line: String, _ kind: ShellCompletion.Kind) throws {
        expectNoDifference(try completion(line).kind, kind)
    }

    @Test func commandsAndOptions() throws {
        func words(_ line: String) throws -> [String] {
            guard case .words(let words) = try completion(line).kind else { return [] }
            return words
        }
        #expect(try words("").contains("find"))
        #expect(try words("fi").contains("find"))
        #expect(try !words("").contains("login"), "the shell has no such command")
        expectNoDifference(try words("container "), ["get", "put"])
        #expect(try Set(words("find Contacts --o")).isSuperset(of: ["--or", "--omit", "--offset", "-x", "--sort"]))
        #expect(try !words("get Contacts 1 --").contains("--omit"))
        #expect(try words(#"\"#).contains(#"\timing"#))
        #expect(try words(#"\ti"#).contains(#"\timing"#))
    }

    private static let names = ["City", "Country", "Name", "First Name", "First Aid", "it's"]

    @Test(
        arguments: [
            ("find Contacts --fields Na", "find Contacts --fields Name", []),
            ("find Contacts --fields City,na", "find Contacts --fields City,Name", []),
            ("find Contacts --sort -Ci", "find Contacts --sort -City", []),
            ("find Contacts --sort=-Ci", "find Contacts --sort=-City", []),
            ("find Contacts --fields C", "find Contacts --fields C", ["City", "Country"]),
            ("find Contacts --fields Fi", "find Contacts --fields 'First '", []),
            ("find Contacts --fields 'First '", "find Contacts --fields 'First '", ["First Aid", "First Name"]),
            ("find Contacts --fields 'First 'N", "find Contacts --fields 'First Name'", []),
            ("find Contacts --fields 'First N", "find Contacts --fields 'First Name'", []),
            ("find Contacts --fields it", #"find Contacts --fields 'it'\''s'"#, []),
            ("find Contacts --fields x", "find Contacts --fields x", []),
        ] as [(String, String, [String])]
    )
    func fields(_ line: String, _ result: String, _ candidates: [String]) throws {
        expectNoDifference(
            try completion(line).result(from: Self.names),
            ShellCompletion.Result(line: result, candidates: candidates)
        )
    }

    @Test func aWholeNameIsFollowedByASpace() throws {
        expectNoDifference(
            try completion("find con").result(from: ["Contacts", "Phones"]),
            ShellCompletion.Result(line: "find Contacts ")
        )
        expectNoDifference(
            try completion("find Contacts Ci").result(from: ["City=", "Name="]),
            ShellCompletion.Result(line: "find Contacts City=")
        )
        expectNoDifference(
            try completion(#"\t"#).result(from: [#"\timing"#, #"\d"#]),
            ShellCompletion.Result(line: #"\timing "#)
        )
    }
}
