import NIOCore
import NIOPosix

/// A server that answers as cheaply as possible, so that the clients are what is measured: it looks for the end of each
/// request's head, knows three targets by one letter, and has its answers ready.
///
/// `/s` is a small JSON text, `/b` 12 MB, `/g` 1 GB. One thread; the clients get the rest of the machine.
final class LocalServer: Sendable {
    static let bodyBytes = 12 * 1024 * 1024
    static let streamBytes = 1024 * 1024 * 1024

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel

    init() async throws {
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler()) }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

    func stop() async throws {
        try await channel.close().get()
        try await group.shutdownGracefully()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private static let small: ByteBuffer = {
            let body = #"{"response":{"data":[]},"messages":[{"code":"0","message":"OK"}]}"#
            let head =
                "HTTP/1.1 200 OK\r\nServer: Apache\r\nContent-Type: application/json\r\nKeep-Alive: timeout=60\r\n"
            return ByteBuffer(string: "\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }()
        private static let block = ByteBuffer(repeating: 0x20, count: 256 * 1024)

        private var received = ByteBuffer()
        private var remaining = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
            while let end = endOfHead() {
                // `GET /s`: the letter is the sixth byte.
                let letter: UInt8? = received.getInteger(at: received.readerIndex + 5)
                received.moveReaderIndex(to: end)
                answer(letter, context: context)
            }
            if received.readableBytes == 0 { received.clear() }
        }

        private func endOfHead() -> Int? {
            let view = received.readableBytesView
            guard view.count >= 4 else { return nil }
            // A request without a body arrives as a whole, so its end is nearly always the end of what is there.
            if view.suffix(4).elementsEqual([13, 10, 13, 10]), received.readableBytes < 512 { return view.endIndex }
            var index = view.startIndex
            while index + 3 < view.endIndex {
                if view[index] == 13, view[index + 1] == 10, view[index + 2] == 13, view[index + 3] == 10 {
                    return index + 4
                }
                index += 1
            }
            return nil
        }

        private func answer(_ letter: UInt8?, context: ChannelHandlerContext) {
            switch letter {
            case UInt8(ascii: "b"): start(LocalServer.bodyBytes, context: context)
            case UInt8(ascii: "g"): start(LocalServer.streamBytes, context: context)
            default: context.writeAndFlush(wrapOutboundOut(Self.small), promise: nil)
            }
        }

        private func start(_ length: Int, context: ChannelHandlerContext) {
            remaining = length
            let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
            context.write(wrapOutboundOut(head), promise: nil)
            pump(context: context)
        }

        private func pump(context: ChannelHandlerContext) {
            while remaining > 0, context.channel.isWritable {
                let size = min(remaining, Self.block.readableBytes)
                remaining -= size
                // The length is at most the block's own, so the slice exists.
                context.writeAndFlush(wrapOutboundOut(Self.block.getSlice(at: 0, length: size)!), promise: nil)
            }
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            pump(context: context)
        }
    }
}
