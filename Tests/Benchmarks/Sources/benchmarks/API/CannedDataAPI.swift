import FMTestHost
import NIOCore
import NIOHTTP1
import NIOPosix

/// A Data API host with prepared answers, so that the clients are measured: record 1, and a page of records, with any
/// token. One thread.
final class CannedDataAPI: Sendable {
    static let database = "Harbor"
    static let layout = "People"
    static let root = "/fmi/data/vLatest/databases/\(database)"
    static let token = "0123456789abcdef0123456789abcdef0123456789abcdef012"

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let host: ScriptedHost

    /// - Parameters:
    ///   - record: the body for a request of one record.
    ///   - page: the body for a request of a range of records.
    ///   - delay: the response time; `nil` sends answers in the fastest possible way.
    ///   - willSend: called after a delay, with the number of bytes that are sent now, head and body.
    init(
        record: ByteBuffer,
        page: ByteBuffer,
        delay: TimeAmount? = nil,
        willSend: @escaping @Sendable (_ bytes: Int) -> Void = { _ in }
    ) async throws {
        let records = "GET \(Self.root)/layouts/\(Self.layout)/records"
        let answers = [
            (requestPrefix: "\(records)/1 ", answer: Self.answer(record)),
            (requestPrefix: "\(records)?_limit=", answer: Self.answer(page)),
        ]
        let eventLoop = group.next()
        var options = FaultServer.Options()
        options.eventLoopGroup = group
        options.remembers = false
        if delay == nil { options.ready = answers }
        host = try await ScriptedHost.start(options) { call in
            let line = "\(call.method.rawValue) \(call.target) "
            guard let delay, let answer = answers.first(where: { line.hasPrefix($0.requestPrefix) })?.answer else {
                return .error(1630, "URL format is incorrect", status: 404)
            }
            let thought = Gate()
            eventLoop.scheduleTask(in: delay) {
                willSend(answer.readableBytes)
                thought.open()
            }
            return [.wait(thought), .send(answer)]
        }
    }

    var base: String { "http://127.0.0.1:\(host.server.port)" }

    func stop() async throws {
        try await host.server.stopped()
        try await group.shutdownGracefully()
    }

    private static func answer(_ body: ByteBuffer) -> ByteBuffer {
        let headers: HTTPHeaders = ["Server": "Apache", "Content-Type": "application/json"]
        var answer = ByteBuffer(string: FaultServer.head(200, headers, length: body.readableBytes))
        answer.writeImmutableBuffer(body)
        return answer
    }
}
