import FMData
import Foundation
import OpenCombine

/// Shows the ships in four harbours on two servers, and follows them: ships arrive, change, leave and are deleted; a
/// server stops and starts again. Another process does all that (`liveboard yard`); this one prints the changes that
/// the board receives, and then ends.
@main
struct LiveBoard {
    static func main() async throws {
        if CommandLine.arguments.dropFirst().first == "yard" { return try await Yard.run() }
        let yard = try OtherProcess(arguments: ["yard"])
        let urls = yard.readLine().split(separator: " ").map(String.init)
        var config = DataAPI.Config()
        // A server that is down is noticed soon.
        config.timeouts.connect = .seconds(2)
        let servers = urls.map { DataAPI.Server(host: $0, config: config) }
        let harbours = zip(servers, Yard.files).flatMap { server, names in names.map { Harbour($0, on: server) } }

        var board = Board()
        var steps = Steps()
        for try await event in harbours.map(\.events).merge().values {
            let lines = board.take(event)
            board.draw()
            for line in lines { Yard.say(line) }
            // The other process gets its next order when the board has shown the effect of the last one.
            for order in steps.after(lines) { yard.write(order) }
            if steps.areDone { break }
        }
        for server in servers { _ = await server.shutdown().awaitSingleResult() }
        yard.end()
        Yard.say("The board is closed")
    }
}

/// An order for the other process, and the line that the board prints after it.
struct Steps {
    private var waits: [(line: String, next: String)] = [
        ("Oslo: inserted Fram", "update"),
        ("Rome: updated Rome 1, now at 9", "leave"),
        ("Bergen: left Bergen 1", "delete"),
        ("Naples: deleted Naples 1", "stop"),
        ("Rome: connection lost", "start"),
        ("Rome: reconnected", ""),
    ]
    private var harbours = 0

    var areDone: Bool { waits.isEmpty }

    mutating func after(_ lines: [String]) -> [String] {
        var orders: [String] = []
        for line in lines {
            if line.hasSuffix(" ships") {
                harbours += 1
                if harbours == 4 { orders.append("insert") }
            } else if line == waits.first?.line {
                let next = waits.removeFirst().next
                if !next.isEmpty { orders.append(next) }
            }
        }
        return orders
    }
}

/// Another process of this program, connected by a pipe in each direction.
final class OtherProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(arguments: [String]) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func write(_ line: String) { input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    func readLine() -> String {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
