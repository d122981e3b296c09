import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

/// The file that stores tokens for the processes of one user.
@Suite(.timeLimit(.minutes(15))) struct TokenFileTests {
    private func makeKey(_ database: String = "Contacts") -> DataAPI.TokenStore.Key {
        DataAPI.TokenStore.Key(host: "https://fms.example.com", database: database, identity: "ada")
    }

    @Test func aFileKeepsTokensForItsOwnerAlone() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/tokens"
            let store = try #require(DataAPI.TokenStore.file(at: path).shared)
            let (one, two) = (makeKey(), makeKey("Invoices"))
            try await expect(store, one, holds: nil)
            _ = try await store.save("T1", one)
            _ = try await store.save("T2", two)
            // A second store on the same file, as another process would have.
            let other = try #require(DataAPI.TokenStore.file(at: path).shared)
            try await expect(other, one, holds: "T1")
            try await expect(other, two, holds: "T2")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            expectNoDifference(mode, 0o600)
            expectNoDifference(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted(),
                ["tokens", "tokens.lock"]
            )
        }
    }

    @Test func aTokenThatIsThereIsNotReplaced() async throws {
        try await withTemporaryFolder { folder in
            let store = try #require(DataAPI.TokenStore.file(at: folder.path + "/tokens").shared)
            let key = makeKey()
            let answers = [
                try await store.save("first", key), try await store.save("first", key),
                try await store.save("second", key),
            ]
            expectNoDifference(answers, [true, true, false])
            try await expect(store, key, holds: "first")
        }
    }

    @Test func onlyTheSameTokenIsRemoved() async throws {
        try await withTemporaryFolder { folder in
            let store = try #require(DataAPI.TokenStore.file(at: folder.path + "/tokens").shared)
            let key = makeKey()
            _ = try await store.save("new", key)
            try await store.remove("old", key)
            try await expect(store, key, holds: "new")
            try await store.remove("new", key)
            try await expect(store, key, holds: nil)
        }
    }

    /// A service may have many users, and cannot know which of them return. The file must not outgrow the size up to
    /// which it is read.
    @Test func aFullFileForgetsAnotherEntry() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/tokens"
            let others = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("other \($0)", "T") })
            let isMade = FileManager.default.createFile(
                atPath: path,
                contents: try JSONEncoder().encode(others),
                attributes: [.posixPermissions: 0o600]
            )
            #expect(isMade)
            let store = try #require(DataAPI.TokenStore.file(at: path).shared)
            _ = try await store.save("T1", makeKey())
            _ = try await store.save("T1", makeKey())
            try await expect(store, makeKey(), holds: "T1")
            let entries = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: URL(filePath: path)))
            expectNoDifference(entries.count, 1000)
        }
    }

    @Test func aFileThatOthersCanReadIsNotUsed() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/tokens"
            let store = try #require(DataAPI.TokenStore.file(at: path).shared)
            let key = makeKey()
            _ = try await store.save("T1", key)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            await #expect(throws: TokenFileError(path: path, reason: .notPrivate)) { try await store.load(key) }
            await #expect(throws: TokenFileError(path: path, reason: .notPrivate)) {
                _ = try await store.save("T2", key)
            }
        }
    }

    @Test func aLinkIsNotFollowed() async throws {
        try await withTemporaryFolder { folder in
            let target = folder.path + "/target"
            try Data("{}".utf8).write(to: URL(fileURLWithPath: target))
            try FileManager.default.createSymbolicLink(atPath: folder.path + "/tokens", withDestinationPath: target)
            let store = try #require(DataAPI.TokenStore.file(at: folder.path + "/tokens").shared)
            let key = makeKey()
            await #expect(throws: TokenFileError.self) { try await store.load(key) }
        }
    }

    @Test(arguments: ["", "nonsense", "[]", "{\"a\":1}"]) func whatIsNotUnderstoodCountsAsEmpty(
        text: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path + "/tokens"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let store = try #require(DataAPI.TokenStore.file(at: path).shared)
            let key = makeKey()
            try await expect(store, key, holds: nil)
            _ = try await store.save("T1", key)
            try await expect(store, key, holds: "T1")
        }
    }

    @Test func aFolderThatIsNotThereIsAnError() async throws {
        try await withTemporaryFolder { folder in
            let store = try #require(DataAPI.TokenStore.file(at: folder.path + "/no/tokens").shared)
            let key = makeKey()
            // The load fails before a session is opened that could not be stored.
            await #expect(throws: TokenFileError.self) { _ = try await store.load(key) }
            await #expect(throws: TokenFileError.self) { _ = try await store.save("T1", key) }
        }
    }

    @Test func manyWritersLoseNothing() async throws {
        try await withTemporaryFolder { folder in
            let keys = (0..<24).map { makeKey("db\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in keys {
                    group.addTask {
                        let store = DataAPI.TokenStore.file(at: folder.path + "/tokens").shared
                        _ = try await store?.save("token of \(key.database)", key)
                    }
                }
                try await group.waitForAll()
            }
            let store = try #require(DataAPI.TokenStore.file(at: folder.path + "/tokens").shared)
            for key in keys { try await expect(store, key, holds: "token of \(key.database)") }
        }
    }

    private func expect(
        _ store: DataAPI.TokenStore.Shared,
        _ key: DataAPI.TokenStore.Key,
        holds token: String?,
        line: UInt = #line
    ) async throws {
        let held = try await store.load(key)
        expectNoDifference(held, token, line: line)
    }
}
