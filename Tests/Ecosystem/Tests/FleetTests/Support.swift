import Foundation
import NIOCore
import NIOPosix
import Programs
import Testing

@testable import FMDataFleet

/// A store with a replica, both watched by a Sentinel, which members ask for the master.
final class WatchedStore: Sendable {
    private let folder: URL
    private let ports: Ports
    private let master: Program
    private let replica: Program
    private let sentinel: Program

    /// All three need ports: a Sentinel reaches its stores by them, and they each other.
    private struct Ports {
        let master: Int
        let replica: Int
        let sentinel: Int

        /// Three that nobody has now.
        static func free() async throws -> Ports {
            var places: [any Channel] = []
            for _ in 0..<3 {
                places.append(
                    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .bind(host: "127.0.0.1", port: 0).get()
                )
            }
            let ports = try places.map { try #require($0.localAddress?.port) }
            for place in places { try await place.close().get() }
            return Ports(master: ports[0], replica: ports[1], sentinel: ports[2])
        }
    }

    private init(_ folder: URL, _ ports: Ports) throws {
        self.folder = folder
        self.ports = ports
        func store(_ name: String, _ port: Int, _ more: [String]) throws -> Program {
            let home = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            let fixed = ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--dir", home.path]
            return try Program(Store.path ?? "", fixed + more)
        }
        master = try store("master", ports.master, ["--repl-diskless-sync-delay", "0"])
        replica = try store("replica", ports.replica, ["--replicaof", "127.0.0.1", "\(ports.master)"])
        // A Sentinel writes to the file of its configuration.
        let configuration = folder.appendingPathComponent("sentinel.conf")
        try """
        port \(ports.sentinel)
        bind 127.0.0.1
        dir \(folder.path)
        sentinel monitor fleet 127.0.0.1 \(ports.master) 1
        sentinel down-after-milliseconds fleet 500
        sentinel failover-timeout fleet 10000

        """.write(to: configuration, atomically: true, encoding: .utf8)
        sentinel = try Program(Store.path ?? "", [configuration.path, "--sentinel"])
    }

    /// Starts all three, and returns when the replica has what the master has, and the Sentinel knows of both.
    static func start() async throws -> WatchedStore {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataFleet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = try WatchedStore(folder, try await .free())
        await store.until("master_link_status:up", at: store.ports.replica, RESPCommand("INFO", "replication"))
        await store.until("slaves=1", at: store.ports.sentinel, RESPCommand("INFO", "sentinel"))
        return store
    }

    private func until(_ text: String, at port: Int, _ command: RESPCommand) async {
        let client = StoreClient.reader(of: StoreAddress(host: "127.0.0.1", port: port))
        while true {
            let answer = try? await client.send { _ in command }
            if answer?.string?.contains(text) == true { break }
        }
        await client.shutdown()
    }

    /// The URL that members get: the Sentinel's.
    var url: String { "redis-sentinel://127.0.0.1:\(ports.sentinel)#fleet" }

    func killMaster() async throws {
        master.killNow()
        await until("role:master", at: ports.replica, RESPCommand("INFO", "replication"))
    }

    func stop() {
        for program in [sentinel, replica, master] { program.killNow() }
        try? FileManager.default.removeItem(at: folder)
    }
}

/// Reads what is in a store.
struct StoreReader {
    private let client: StoreClient

    init(_ store: Store) throws {
        client = StoreClient.reader(of: try #require(StoreAddress(url: store.url)))
    }

    /// The ids and modIds of a stream's records, in their order.
    func versions(in stream: String) async throws -> [String] {
        let entries = try await client.send { _ in RESPCommand("XRANGE", stream, "-", "+") }.elements ?? []
        return entries.compactMap { entry in
            let words = (entry.elements?.last?.elements ?? []).map { $0.string ?? "" }
            // kind, record, id, …, mod, …, fields, …
            return words.count == 8 && words[1] == "record" ? "\(words[3]) \(words[5])" : nil
        }
    }

    /// The number of slots with a token.
    func tokenCount() async throws -> Int { try await slotFields("t") }

    /// The number of slots that are held.
    func heldCount() async throws -> Int { try await slotFields("o") }

    /// The number of slots that have this field in the only pool.
    private func slotFields(_ letter: String) async throws -> Int {
        let keys = try await client.send { _ in RESPCommand("KEYS", "*:pool") }.elements ?? []
        guard let pool = keys.first?.string else { return 0 }
        let fields = try await client.send { _ in RESPCommand("HKEYS", pool) }.elements?.compactMap(\.string) ?? []
        return fields.count { $0.first.map(String.init) == letter && Int($0.dropFirst()) != nil }
    }

    func end() async { await client.shutdown() }
}

extension StoreClient {
    static func reader(of address: StoreAddress) -> StoreClient {
        StoreClient(
            address: address,
            name: "reader",
            logger: nil,
            observer: .init()
        )
    }
}

/// The program `fleet-member`, which is built beside the tests.
let memberPath: String = {
    // In an xctest bundle or a plain executable, it stands in the folder of the build.
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    return folder.appendingPathComponent("fleet-member").path
}()
