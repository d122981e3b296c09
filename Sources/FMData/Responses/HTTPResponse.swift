import FMHTTP
import NIOCore

/// An HTTP answer in memory, or as much of one as is kept of it.
struct HTTPResponse: Sendable, Equatable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders = [:]
    /// As far as it was kept; decompressed.
    var body = ByteBuffer()
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the size of the body. Headers (cookies, tokens) and field values are left out, also from `dump`.
    var description: String { "\(status.code), \(body.readableBytes) bytes" }

    /// Shows no more than ``description``.
    var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}
