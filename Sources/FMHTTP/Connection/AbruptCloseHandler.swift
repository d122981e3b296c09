internal import NIOCore

/// Closes a TLS connection without close_notify, the message that ends TLS in order. It stands below the TLS handler,
/// which would wait for the server's close_notify; connections are abandoned just when the server does not answer.
/// Confined to the loop.
final class AbruptCloseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func close() { context?.close(promise: nil) }
}
