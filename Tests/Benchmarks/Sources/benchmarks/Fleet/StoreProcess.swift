import FMDataFleet
import Foundation

/// A Redis or Valkey server of the machine, at a socket in a folder of its own.
final class StoreProcess {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataBenchmarks-\(UUID())")
    private var process = Process()

    struct NotInstalled: Error, CustomStringConvertible {
        let description = "neither redis-server nor valkey-server is installed"
    }

    /// Starts it, and returns when it listens.
    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try start()
    }

    var url: String { "unix://\(socket)" }
    private var socket: String { folder.appendingPathComponent("s").path }

    /// Starts it with nothing in it.
    func start() throws {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = ["redis-server", "valkey-server"].flatMap { name in folders.map { "\($0)/\(name)" } }
        guard let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else { throw NotInstalled() }
        try? FileManager.default.removeItem(atPath: socket)
        process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder.path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while !FileManager.default.fileExists(atPath: socket), process.isRunning { usleep(1_000) }
    }

    /// Has it stand still, or go on.
    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    func killNow() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    func stop() {
        killNow()
        try? FileManager.default.removeItem(at: folder)
    }
}
