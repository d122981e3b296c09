import Foundation
import NIOCore
import NIOPosix
import Programs
import Testing

@testable import FMDataFleet

/// Two stores, of which the second follows the first. Members reach the one in use at a socket that is a link.
final class ReplicatedStore: Sendable {
    private let folder: URL
    private let master: Program
    private let replica: Program

    private init(_ folder: URL, _ master: Program, _ replica: Program) {
        self.folder = folder
        self.master = master
        self.replica = replica
    }

    /// Starts both, and returns when the second has what the first has.
    static func start() async throws -> ReplicatedStore {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FMDataFleet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Replication needs a port.
        let place = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(place.localAddress?.port)
        try await place.close().get()
        func start(_ name: String, _ arguments: [String]) throws -> Program {
            let fixed = ["--unixsocket", folder.appendingPathComponent(name).path, "--save", "", "--dir", folder.path]
            return try Program(Store.path ?? "", fixed + arguments)
        }
        let store = ReplicatedStore(
            folder,
            try start("master", ["--port", "\(port)", "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"]),
            try start("replica", ["--port", "0", "--replicaof", "127.0.0.1", "\(port)"])
        )
        try store.use("master")
        let client = StoreClient.reader(of: store.address("replica"))
        while true {
            let answer = try? await client.send { _ in RESPCommand("INFO", "replication") }
            if answer?.string?.contains("master_link_status:up") == true { break }
        }
        await client.shutdown()
        return store
    }

    var url: String { "unix://\(folder.appendingPathComponent("s").path)" }

    private func address(_ name: String) -> StoreAddress {
        StoreAddress(socketPath: folder.appendingPathComponent(name).path)
    }

    private func use(_ name: String) throws {
        let link = folder.appendingPathComponent("s")
        try? FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: name)
    }

    func failOver() async throws {
        master.killNow()
        let client = StoreClient.reader(of: address("replica"))
        _ = try await client.send { _ in RESPCommand("REPLICAOF", "NO", "ONE") }
        await client.shutdown()
        try use("replica")
    }

    func stop() {
        master.killNow()
        replica.killNow()
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
