import FMData
import Foundation
import OpenCombine

/// The sessions of a command that ends them itself. While it runs their tokens are in a file that is locked; if the
/// command is killed, the next one for the host finds the file without its lock, and ends them.
final class RunningSessions: Sendable {
    /// A session.
    struct Entry: Codable, Equatable, Sendable {
        /// The host, as a ``DataAPI/TokenStore/Key`` names it.
        var host: String
        var database: String
        var token: String
    }

    private let folder: URL
    /// The file of this command, which is open from the first session on.
    private let own: LockedValue<(path: String, descriptor: Int32)?>

    /// - Parameter folder: The folder of the files of all commands.
    init(in folder: URL) {
        self.folder = folder
        own = LockedValue(nil)
    }

    deinit { own.value.map { _ = close($0.descriptor) } }

    /// Notes the token of each session, and ends those of killed commands before the first login. It keeps no token for
    /// others, so each session is logged out at its end.
    ///
    /// - Parameter end: Ends a session of a killed command. Returns whether it has ended.
    func store(_ end: @escaping @Sendable (Entry) async -> Bool) -> DataAPI.TokenStore {
        DataAPI.TokenStore(
            load: { key in
                await self.endThoseOfKilledCommands(on: key.host, end)
                return nil
            },
            save: { token, key in
                self.note(Entry(host: key.host, database: key.database, token: token))
                return false
            },
            remove: { _, _ in }
        )
    }

    /// Removes the file of this command, whose sessions have ended.
    func remove() {
        own.change { own in
            guard let file = own else { return }
            unlink(file.path)
            close(file.descriptor)
            own = nil
        }
    }

    // A session that cannot be noted is no failure: it ends with its command, or by itself.

    private func note(_ entry: Entry) {
        guard let line = try? JSONEncoder().encode(entry) + Data("\n".utf8) else { return }
        own.change { own in
            own = own ?? create()
            guard let file = own else { return }
            _ = line.withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) }
        }
    }

    private func create() -> (path: String, descriptor: Int32)? {
        guard (try? folder.createPrivateFolder()) != nil else { return nil }
        let path = folder.appendingPathComponent(UUID().uuidString).path
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        flock(file, LOCK_EX)
        return (path, file)
    }

    private func endThoseOfKilledCommands(on host: String, _ end: (Entry) async -> Bool) async {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for path in names.map({ folder.appendingPathComponent($0).path }) where path != own.value?.path {
            let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            guard flock(file, LOCK_EX | LOCK_NB) == 0,
                let content = try? PrivateFile(URL(fileURLWithPath: path)).read()
            else { continue }
            let entries = content.split(separator: UInt8(ascii: "\n")).compactMap {
                try? JSONDecoder().decode(Entry.self, from: $0)
            }
            // A file is empty between its creation and its lock.
            guard !entries.isEmpty, entries.allSatisfy({ $0.host == host }) else { continue }
            var areEnded = true
            for entry in entries where await !end(entry) { areEnded = false }
            if areEnded { unlink(path) }
        }
    }
}

extension Place {
    /// Ends a session by its token, which needs no password.
    ///
    /// - Returns: whether it has ended: not if the host does not answer.
    func end(_ session: RunningSessions.Entry) async -> Bool {
        let store = DataAPI.TokenStore(
            load: { _ in session.token },
            save: { _, _ in false },
            remove: { _, _ in }
        )
        guard let server = try? server({ $0.sessions.tokenStore = store }) else { return false }
        let nobody = DataAPI.CredentialsProvider(identity: "fmdata") {
            Fail(error: CommandError("A session that was left is only ended.")).eraseToAnyPublisher()
        }
        let end = await server.addDatabase(session.database, credentialsProvider: nobody).logOut().awaitSingleResult()
        _ = await server.shutdown().awaitSingleResult()
        guard case .failure(let error) = end else { return true }
        return error.fileMakerCode != nil
    }

    /// The names of the databases that have a kept session, of whatever host and account.
    func databasesOfKeptSessions() -> Set<String> {
        guard let tokens, let content = try? PrivateFile(tokens).read(),
            let entries = try? JSONDecoder().decode([String: String].self, from: content)
        else { return [] }
        return Set(entries.keys.compactMap { Self.parts(ofKey: $0).dropFirst().first })
    }

    /// The parts of the text of a ``DataAPI/TokenStore/Key``, each of which follows its length.
    private static func parts(ofKey text: String) -> [String] {
        var (parts, rest) = ([String](), Substring(text).utf8)
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")), let length = Int(Substring(rest[..<colon])) {
            let value = rest[colon...].dropFirst().prefix(length)
            parts.append(String(decoding: value, as: UTF8.self))
            rest = rest[value.endIndex...].dropFirst()
        }
        return parts
    }
}
