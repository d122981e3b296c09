import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A bare TCP connection, for requests that no HTTP client would send.
enum RawSocket {
    /// Sends bytes and returns what is received until the server closes the connection or `isEnough` returns true. With
    /// `endsInput` the output side is closed after sending.
    static func exchange(
        port: Int,
        _ bytes: [UInt8],
        endsInput: Bool = false,
        until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }
    ) async throws -> [UInt8] {
        let received = NIOLockedValueBox<[UInt8]>([])
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received: received, isEnough: isEnough))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        // The server may have closed before the last byte was written.
        try? await channel.writeAndFlush(channel.allocator.buffer(bytes: bytes)).get()
        if endsInput { try? await channel.close(mode: .output).get() }
        // A test that exceeds its time limit is cancelled, but NIO's futures do not react to that.
        try await withTaskCancellationHandler {
            try await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
        return received.withLockedValue { $0 }
    }

    /// Confined to the event loop of its channel.
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let received: NIOLockedValueBox<[UInt8]>
        private let isEnough: ([UInt8]) -> Bool

        init(received: NIOLockedValueBox<[UInt8]>, isEnough: @escaping ([UInt8]) -> Bool) {
            self.received = received
            self.isEnough = isEnough
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = received.withLockedValue { received in
                received += Self.unwrapInboundIn(data).readableBytesView
                return received
            }
            if isEnough(bytes) { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
