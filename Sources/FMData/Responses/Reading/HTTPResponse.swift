import FMHTTP
import NIOCore

/// An HTTP answer in memory, complete or as far as it was kept.
struct HTTPResponse: Sendable, Equatable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders = [:]
    /// The decompressed body, as far as it was kept.
    var body = ByteBuffer()
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the size of the body. Headers (cookies, tokens) and field values are left out, also in `dump`.
    var description: String { "\(status.code), \(body.readableBytes) bytes" }

    /// Shows only ``description``.
    var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}
