import Foundation
import NIOCore

/// Another process of this program: a server, so that its processor time and memory do not count as the client's.
///
/// `benchmarks serve` is a ``CannedDataAPI`` with a number of records per page and a response time in milliseconds. It
/// prints its URL, then, if asked, the time at which it sends each page; it ends with its standard input.
final class ServerProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private(set) var base = ""

    /// - Parameter tellsOfPages: whether ``pageSent()`` will be called for each page.
    init(recordsPerPage: Int, delay: TimeAmount = .zero, tellsOfPages: Bool = false) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["serve", "\(recordsPerPage)", "\(delay.nanoseconds / 1_000_000)", "\(tellsOfPages)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        base = line()
    }

    /// The time at which the next page was sent, in the order of the pages.
    func pageSent() -> NIODeadline { .uptimeNanoseconds(UInt64(line()) ?? 0) }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func line() -> String {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Runs the other process. Returns whether these arguments were for it.
    static func serve(_ arguments: some Sequence<String>) async throws -> Bool {
        let arguments = Array(arguments)
        guard arguments.count == 4, arguments[0] == "serve", let count = Int(arguments[1]),
            let milliseconds = Int64(arguments[2]), let tellsOfPages = Bool(arguments[3])
        else { return false }
        let page = ByteBuffer(bytes: DecodeAnswers.wide(count))
        let server = try await CannedDataAPI(
            record: ByteBuffer(bytes: DecodeAnswers.wide(1)),
            page: page,
            delay: .milliseconds(milliseconds)
        ) { bytes in
            if tellsOfPages, bytes > page.readableBytes { say("\(NIODeadline.now().uptimeNanoseconds)") }
        }
        say(server.base)
        while readLine() != nil {}
        try await server.stop()
        return true
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
