internal import NIOCore

/// Answers requests that have a known beginning with prepared bytes, and passes on all other requests, each one
/// complete. It is for measurements of clients, in which the cost of parsing requests would show.
final class ReadyAnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answers: [(requestPrefix: [UInt8], answer: ByteBuffer)]
    private var received = ByteBuffer()

    init(_ answers: [(requestPrefix: String, answer: ByteBuffer)]) {
        self.answers = answers.map { (Array($0.requestPrefix.utf8), $0.answer) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        while let answer = nextAnswer(context) { context.writeAndFlush(wrapOutboundOut(answer), promise: nil) }
        if received.readableBytes == 0 { received.clear() }
    }

    /// The prepared answer to the next request, once its head has arrived; other requests are passed on.
    private func nextAnswer(_ context: ChannelHandlerContext) -> ByteBuffer? {
        while true {
            let next = received.withUnsafeReadableBytes { bytes -> (length: Int, answer: ByteBuffer?)? in
                guard let headBytes = Self.endOfHead(bytes) else { return nil }
                let head = UnsafeRawBufferPointer(rebasing: bytes[..<headBytes])
                if let answer = answers.first(where: { head.starts(with: $0.requestPrefix) })?.answer {
                    return (headBytes, answer)
                }
                let length = headBytes + Self.contentLength(head)
                return bytes.count >= length ? (length, nil) : nil
            }
            guard let next else { return nil }
            guard let request = received.readSlice(length: next.length) else {
                preconditionFailure("so many bytes are readable, as the check above has found")
            }
            if let answer = next.answer { return answer }
            context.fireChannelRead(wrapInboundOut(request))
        }
    }

    /// The end of the empty line. Looks at every fourth byte until one may belong to it.
    private static func endOfHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 3
        while index < bytes.count {
            switch bytes[index] {
            case 0x0A:
                if bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A, bytes[index - 3] == 0x0D { return index + 1 }
                index += 2
            case 0x0D: index += 1
            default: index += 4
            }
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
