import NIOCore
import NIOPosix

/// A Data API server that has its answers ready, so that the clients are what is measured: any login, any logout, record 1,
/// and a page of records. One thread.
final class CannedDataAPI: Sendable {
    static let database = "Harbor"
    static let layout = "People"
    static let root = "/fmi/data/vLatest/databases/\(database)"
    static let token = "0123456789abcdef0123456789abcdef0123456789abcdef012"

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel

    /// - Parameters:
    ///   - record: the body for a request of one record.
    ///   - page: the body for a request of a range of records.
    init(record: ByteBuffer, page: ByteBuffer) async throws {
        let answers = Answers(record: record, page: page)
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(answers))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
    }

    var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    func stop() async throws {
        try await channel.close().get()
        try await group.shutdownGracefully()
    }

    /// Heads and bodies as they go on the wire, by what the request begins with.
    private struct Answers {
        private let answers: [(requestPrefix: [UInt8], answer: ByteBuffer)]
        private let missing: ByteBuffer

        init(record: ByteBuffer, page: ByteBuffer) {
            let root = CannedDataAPI.root
            let records = "\(root)/layouts/\(CannedDataAPI.layout)/records"
            let ok = #""messages":[{"code":"0","message":"OK"}]"#
            let login = ByteBuffer(string: #"{"response":{"token":"\#(CannedDataAPI.token)"},\#(ok)}"#)
            answers = [
                ("GET \(records)/1 ", Self.whole(record)),
                ("GET \(records)?_limit=", Self.whole(page)),
                ("POST \(root)/sessions ", Self.whole(login)),
                ("DELETE \(root)/sessions/", Self.whole(ByteBuffer(string: #"{"response":{},\#(ok)}"#))),
            ]
            .map { (Array($0.0.utf8), $0.1) }
            missing = Self.whole(
                ByteBuffer(
                    string: #"{"messages":[{"code":"1630","message":"URL format is incorrect"}],"response":{}}"#
                ),
                status: "404 Not Found"
            )
        }

        subscript(head: UnsafeRawBufferPointer) -> ByteBuffer {
            answers.first { head.starts(with: $0.requestPrefix) }?.answer ?? missing
        }

        private static func whole(_ body: ByteBuffer, status: String = "200 OK") -> ByteBuffer {
            var answer = ByteBuffer(
                string: "HTTP/1.1 \(status)\r\nServer: Apache\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.readableBytes)\r\n\r\n"
            )
            answer.writeImmutableBuffer(body)
            return answer
        }
    }

    /// Finds the end of each request. Only a login has a body.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answers: Answers
        private var received = ByteBuffer()

        init(_ answers: Answers) { self.answers = answers }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
            while let answer = answerRequest() {
                context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
            }
            if received.readableBytes == 0 { received.clear() }
        }

        /// The answer to the next request, once all of the request is there.
        private func answerRequest() -> ByteBuffer? {
            let found = received.withUnsafeReadableBytes { bytes -> (length: Int, answer: ByteBuffer)? in
                guard let headBytes = Self.endOfHead(bytes) else { return nil }
                let head = UnsafeRawBufferPointer(rebasing: bytes[..<headBytes])
                let length = headBytes + (head.starts(with: "GET ".utf8) ? 0 : Self.contentLength(head))
                return bytes.count >= length ? (length, answers[head]) : nil
            }
            guard let found else { return nil }
            received.moveReaderIndex(forwardBy: found.length)
            return found.answer
        }

        private static func endOfHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
            var index = 3
            while index < bytes.count {
                if bytes[index] == 10, bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13 {
                    return index + 1
                }
                index += 1
            }
            return nil
        }

        private static func contentLength(_ head: UnsafeRawBufferPointer) -> Int {
            let line = String(decoding: head, as: UTF8.self).split(separator: "\r\n").first {
                $0.lowercased().hasPrefix("content-length:")
            }
            return line?.split(separator: ":").last.flatMap { Int($0.drop { $0 == " " }) } ?? 0
        }
    }
}
