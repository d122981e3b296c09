import Foundation
import NIOCore

/// Another process of this program: a server.
///
/// `benchmarks serve` is a ``CannedDataAPI`` with a number of records per page and a response time in milliseconds. It
/// prints its URL, then, if asked, the time at which it sends each page; it ends with its standard input.
final class ServerProcess {
    private let process: OtherProcess
    let base: String

    /// - Parameter tellsOfPages: whether ``pageSent()`` will be called for each page.
    init(recordsPerPage: Int, delay: TimeAmount = .zero, tellsOfPages: Bool = false) throws {
        process = try OtherProcess([
            "serve", "\(recordsPerPage)", "\(delay.nanoseconds / 1_000_000)", "\(tellsOfPages)",
        ])
        base = process.line()
    }

    /// The time at which the next page was sent, in the order of the pages.
    func pageSent() -> NIODeadline { .uptimeNanoseconds(UInt64(process.line()) ?? 0) }

    func stop() { process.finish() }

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
            if tellsOfPages, bytes > page.readableBytes { OtherProcess.say("\(NIODeadline.now().uptimeNanoseconds)") }
        }
        OtherProcess.say(server.base)
        while readLine() != nil {}
        try await server.stop()
        return true
    }
}
