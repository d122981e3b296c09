import Foundation
import NIOConcurrencyHelpers

/// A Redis or Valkey server of the machine, at a socket in a folder of its own.
public final class Store: Sendable {
    /// The path of the server; `nil` where none is installed.
    public static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/bin"]
        let paths = ["redis-server", "valkey-server"].flatMap { name in folders.map { "\($0)/\(name)" } }
        return paths.first(where: FileManager.default.isExecutableFile(atPath:))
    }()

    private let folder: URL
    private let program = NIOLockedValueBox<Program?>(nil)

    /// Starts it.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataFleet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try start()
    }

    /// The path of its socket.
    public var socket: String { folder.appendingPathComponent("s").path }
    /// Its URL.
    public var url: String { "unix://\(socket)" }

    /// Starts it with nothing in it.
    public func start() throws {
        let arguments = [
            "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder.path,
        ]
        let new = try Program(Self.path ?? "", arguments)
        program.withLockedValue { $0 = new }
    }

    /// Kills it with SIGKILL.
    public func killNow() {
        program.withLockedValue { program in
            program?.killNow()
            program = nil
        }
    }

    /// Kills it, and removes its folder.
    public func stop() {
        killNow()
        try? FileManager.default.removeItem(at: folder)
    }
}
