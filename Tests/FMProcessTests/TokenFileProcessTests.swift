import FMTestSupport

#if os(Linux)
import CustomDump
import Foundation
import Testing

import FMData
@testable import FMDataCore

/// The token file shared between processes. The other processes are further runs of this test program.
@Suite(.timeLimit(.minutes(15))) struct TokenFileProcessTests {
    private static let variable = "FMDATA_TOKEN_FILE_OF_ANOTHER_PROCESS"
    private static let tokensPerProcess = 20

    private static func key(_ process: Int, _ number: Int) -> DataAPI.TokenStore.Key {
        DataAPI.TokenStore.Key(host: "https://fms.example.com", database: "\(process)/\(number)", identity: "ada")
    }

    /// Several processes change one file at the same time. No saved token is lost, and a process that reads meanwhile
    /// finds a complete file.
    @Test(.thorough) func processesShareOneFile() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/tokens"
            let store = try #require(DataAPI.TokenStore.file(at: path).shared)
            let first = Self.key(0, 0)
            _ = try await store.save("mine", first)

            let children = try (1...3).map { try Self.start(process: $0, path: path) }
            while children.contains(where: \.isRunning), !Task.isCancelled {
                let held = try await store.load(first)
                expectNoDifference(held, "mine")
                _ = try await store.save("token", Self.key(0, 1))
                try await store.remove("token", Self.key(0, 1))
            }
            expectNoDifference(children.map { $0.waitUntilExit() }, [0, 0, 0])

            for process in 1...3 {
                for number in 0..<Self.tokensPerProcess {
                    let held = try await store.load(Self.key(process, number))
                    expectNoDifference(held, number.isMultiple(of: 2) ? "token \(number)" : nil)
                }
            }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            expectNoDifference(mode, 0o600)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            expectNoDifference(files, ["tokens", "tokens.lock"])
        }
    }

    /// What the other processes run: save tokens and remove every second one.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
    func theOtherProcess() async throws {
        let argument = try #require(ProcessInfo.processInfo.environment[Self.variable])
        let process = try #require(Int(argument.prefix(1)))
        let store = try #require(DataAPI.TokenStore.file(at: String(argument.dropFirst())).shared)
        for number in 0..<Self.tokensPerProcess {
            let key = Self.key(process, number)
            _ = try await store.save("token \(number)", key)
            let held = try await store.load(key)
            expectNoDifference(held, "token \(number)")
            if !number.isMultiple(of: 2) { try await store.remove("token \(number)", key) }
        }
    }

    private static func start(process number: Int, path: String) throws -> ChildProcess {
        try ChildProcess(
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path,
            ["--testing-library", "swift-testing", "--filter", "TokenFileProcessTests/theOtherProcess"],
            environment: ProcessInfo.processInfo.environment.merging([variable: "\(number)\(path)"]) { $1 },
            output: FileHandle(forWritingAtPath: "/dev/null")
        )
    }
}
#endif
