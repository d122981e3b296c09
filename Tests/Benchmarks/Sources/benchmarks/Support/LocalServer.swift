import FMTestHost
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server that answers as cheaply as possible, so that the clients are measured.
///
/// `/s` is a small prepared JSON text, `/b` 12 MB, `/g` 1 GB. One thread; the clients get the rest of the machine.
final class LocalServer: Sendable {
    static let bodyBytes = 12 * 1024 * 1024
    static let streamBytes = 1024 * 1024 * 1024

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let server: FaultServer

    init() async throws {
        let body = #"{"response":{"data":[]},"messages":[{"code":"0","message":"OK"}]}"#
        let headers: HTTPHeaders = [
            "Server": "Apache", "Content-Type": "application/json", "Keep-Alive": "timeout=60",
        ]
        let head = FaultServer.head(200, headers, length: body.utf8.count)
        var options = FaultServer.Options()
        options.eventLoopGroup = group
        options.remembers = false
        options.ready = [("GET /s ", ByteBuffer(string: head + body))]
        server = try await FaultServer.start(options) { request in
            let length = request.target == "/g" ? Self.streamBytes : Self.bodyBytes
            return [.send(FaultServer.head(200, length: length)), .sendZeros(length)]
        }
    }

    var port: Int { server.port }
    func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

    func stop() async throws {
        try await server.stopped()
        try await group.shutdownGracefully()
    }
}
