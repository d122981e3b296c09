import Foundation
import Programs

/// A PostgreSQL server of the machine, at a socket in a folder of its own.
public final class PostgresServer: Sendable {
    /// The server could not make its files.
    public struct Unusable: Error {}

    /// The folder with its programs; `nil` where none is installed.
    public static let programs: String? = {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(debian)/\($0)/bin" }
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + path).first { folder in
            ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
    }()

    /// The folder with its socket.
    public let folder: String
    private let program = Running()

    private actor Running {
        var program: Program?

        func set(_ new: Program?) { program = new }
    }

    /// Makes its files, and starts it.
    public init() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataPostgres-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.path
        if let user = Self.user { chown(folder, user.id, user.group) }
        let options = ["--username=fm", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
        let making = try Self.program("initdb", ["-D", "\(folder)/data"] + options, in: url)
        await making.finish()
        guard FileManager.default.fileExists(atPath: "\(folder)/data/PG_VERSION") else { throw Unusable() }
        try await start()
    }

    /// Starts it with what it has stored, and waits until it answers.
    public func start() async throws {
        let settings = [
            "unix_socket_directories=\(folder)", "listen_addresses=", "fsync=off", "shared_buffers=16MB",
            "max_connections=50",
        ]
        let arguments = ["-D", "\(folder)/data"] + settings.flatMap { ["-c", $0] }
        await program.set(try Self.program("postgres", arguments, in: URL(fileURLWithPath: folder)))
        let client = client()
        while !Task.isCancelled, (try? await client.query("SELECT 1")) == nil { await Task.yield() }
    }

    /// Has it end at once, as if the machine had lost its power: what was committed is there when it starts again.
    public func killNow() async {
        let running = await program.program
        running?.signal(SIGQUIT)
        await running?.finish()
        await program.set(nil)
    }

    /// Ends it, and removes its folder.
    public func stop() async {
        await killNow()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A client with a connection of its own.
    public func client() -> PostgresClient { PostgresClient(socketFolder: folder) }

    /// The server refuses to run with the rights of the superuser.
    private static let user: (id: uid_t, group: gid_t)? = {
        guard getuid() == 0, let entry = getpwnam("postgres") ?? getpwnam("nobody") else { return nil }
        return (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }()

    private static func program(_ name: String, _ arguments: [String], in folder: URL) throws -> Program {
        let path = "\(programs ?? "")/\(name)"
        guard let user else { return try Program(path, arguments, in: folder) }
        let rights = ["--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups"]
        return try Program("/usr/bin/setpriv", rights + [path] + arguments, in: folder)
    }
}
