import FMTestSupport
import Foundation
import NIOCore
import Testing

@testable import FMDataFleet

/// A Redis or Valkey server of the machine, started in a folder of its own at a socket.
final class StoreServer: Sendable {
    /// The path of the server; `nil` where none is installed.
    static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/bin"]
        let paths = ["redis-server", "valkey-server"].flatMap { name in folders.map { "\($0)/\(name)" } }
        return paths.first(where: FileManager.default.isExecutableFile(atPath:))
    }()

    static var isInstalled: Bool { path != nil }

    private let folder: URL
    private let options: [String]
    private let process = Locked<ChildProcess?>(nil)

    private init(folder: URL, options: [String]) {
        self.folder = folder
        self.options = options
    }

    var socket: String { folder.appendingPathComponent("s").path }
    var address: StoreAddress { StoreAddress(socketPath: socket) }

    /// Starts it, and kills it when the body returns or throws.
    static func run<Result>(
        options: [String] = [],
        _ body: (StoreServer) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            let server = StoreServer(folder: folder, options: options)
            try await server.start()
            defer { server.kill() }
            return try await body(server)
        }
    }

    /// Starts it with nothing in it, and waits until it answers.
    func start() async throws {
        let log = folder.appendingPathComponent("log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let output = try FileHandle(forWritingTo: log)
        let fixed = ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder.path]
        let child = try ChildProcess(Self.path ?? "", fixed + options, output: output)
        process.change { $0 = child }
        // If the server ends, nobody will answer.
        let client = StoreClient.make(at: address, connection: .seconds(1))
        await until { (try? FileManager.default.attributesOfItem(atPath: socket)) != nil || !child.isRunning }
        while !Task.isCancelled, child.isRunning {
            do {
                _ = try await client.send { _ in RESPCommand("PING") }
                break
            } catch let error as StoreError where error.code == .unreachable {
                continue
            } catch {
                break
            }
        }
        await client.shutdown()
    }

    /// Kills it with SIGKILL.
    func kill() {
        process.change { process in
            if let process {
                Foundation.kill(process.id, SIGKILL)
                process.waitUntilExit()
            }
            process = nil
        }
        try? FileManager.default.removeItem(atPath: socket)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips tests of a store where none is installed.
    static var needsStore: Self {
        .enabled(if: StoreServer.isInstalled, "neither redis-server nor valkey-server is installed")
    }
}

extension StoreClient.Times {
    /// Where many tests run at once, an answer takes its time.
    static func ofTests(connection: TimeAmount = .seconds(600)) -> StoreClient.Times {
        StoreClient.Times(answer: .seconds(600), connection: connection)
    }
}

extension StoreClient {
    /// A client with an event loop of its own among those of the tests.
    ///
    /// - Parameter connection: how long a command waits for a connection; for stores that are not there.
    static func make(
        at address: StoreAddress,
        connection: TimeAmount = .seconds(600),
        observer: Observer = Observer()
    ) -> StoreClient {
        StoreClient(
            address: address,
            name: "fmdata-test",
            times: .ofTests(connection: connection),
            logger: nil,
            observer: observer
        )
    }
}
