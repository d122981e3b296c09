internal import NIOCore
internal import NIOHTTP1

#if Compression
internal import NIOHTTPCompression
#endif

/// Decompression of bodies, as handlers behind ours, which meet compressed responses only: others never make the detour.
///
/// NIO's decompressor takes and gives the parts of a response; `InflationHandler` hands what comes out back.
enum Inflation {
    /// Whether this build can, and the response needs it.
    static func isNeeded(for head: HTTPResponseHead) -> Bool {
        #if Compression
        guard head.headers.contains(name: "content-encoding") else { return false }
        return switch head.headers[canonicalForm: "content-encoding"].map({ $0.lowercased() }) {
        case ["gzip"], ["x-gzip"], ["deflate"]: true
        default: false
        }
        #else
        return false
        #endif
    }

    static var isAvailable: Bool {
        #if Compression
        true
        #else
        false
        #endif
    }

    /// Puts the handlers behind `handler`, once per connection.
    static func install(behind handler: HTTP1ChannelHandler, maximumRatio: Int, context: ChannelHandlerContext) throws {
        #if Compression
        let decompressor = NIOHTTPResponseDecompressor(limit: .ratio(maximumRatio))
        let handlers: [any ChannelHandler] = [decompressor, InflationHandler(handler)]
        try context.pipeline.syncOperations.addHandlers(handlers, position: .after(handler))
        #endif
    }

    /// A head that says what the decompressor has to know and no more.
    static var head: HTTPResponseHead {
        HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-encoding": "gzip"])
    }
}

/// The end of the detour. Confined to the loop.
private final class InflationHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private unowned let handler: HTTP1ChannelHandler

    init(_ handler: HTTP1ChannelHandler) { self.handler = handler }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: break
        case .body(let bytes): handler.inflated(bytes)
        case .end: handler.inflationEnded()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        handler.inflationFailed(ConnectionFailure.text(of: error))
    }
}
