import FMDataFleet
import Foundation

/// Starts members of the fleet: this program again. What is secret stands in their environment.
struct Starter {
    let host: String
    let store: String
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()

    init(host: String, store: String) {
        self.host = host
        self.store = store
    }

    func start(_ name: String, calls: Int) throws -> MemberProcess {
        let variables = [
            "FM_HOST": host, "FM_DATABASE": "World", "FM_USER": "admin", "FM_PASSWORD": "secret",
            "FLEET_STORE": store, "FLEET_KEY": key, "FLEET_CALLS": "\(calls)",
        ]
        return try MemberProcess("member \(name)", variables)
    }
}

/// A member that runs.
final class MemberProcess: Sendable {
    let name: String
    private let process: Process
    private let lines: AsyncStream<String>

    init(_ name: String, _ variables: [String: String]) throws {
        self.name = name
        let process = Process()
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["member"]
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardOutput = output
        try process.run()
        self.process = process
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        Thread.detachNewThread {
            var rest = ""
            while true {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { break }
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    continuation.yield(String(rest[..<end]))
                    rest = String(rest[rest.index(after: end)...])
                }
            }
            continuation.finish()
        }
    }

    /// The next line that it says; `nil` when it has ended.
    func line() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// As a machine that loses its power.
    func killNow() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// A store of our own, at a socket in a folder that is removed with it.
final class StoreProcess {
    private let folder: URL
    private let process = Process()

    var url: String { "unix://\(folder.appendingPathComponent("s").path)" }
    var address: StoreAddress { StoreAddress(socketPath: folder.appendingPathComponent("s").path) }

    /// Returns `nil` where no store is installed.
    init?() throws {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = ["redis-server", "valkey-server"].flatMap { name in folders.map { "\($0)/\(name)" } }
        guard let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else { return nil }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Fleet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [
            "--port", "0", "--unixsocket", folder.appendingPathComponent("s").path, "--save", "", "--dir", folder.path,
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
