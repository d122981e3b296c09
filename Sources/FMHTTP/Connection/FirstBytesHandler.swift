internal import NIOCore

/// Inspects a server's first bytes on their way to the TLS handler, which would only report that they are not TLS: most
/// servers answer a handshake on a port for plain HTTP with a plain "400 Bad Request". Leaves the pipeline once it
/// knows. Confined to the loop.
final class FirstBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private static let beginning = Array("HTTP/".utf8)

    /// Whether the server's answer to the handshake begins with "HTTP/".
    private(set) var arePlainHTTP = false
    private var seen: [UInt8] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        seen += unwrapInboundIn(data).readableBytesView.prefix(Self.beginning.count - seen.count)
        let isComplete = seen.count == Self.beginning.count
        arePlainHTTP = seen == Self.beginning
        context.fireChannelRead(data)
        if isComplete { context.pipeline.syncOperations.removeHandler(self, promise: nil) }
    }
}
