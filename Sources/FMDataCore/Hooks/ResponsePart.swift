import FMHTTP
public import Foundation
import NIOCore
import NIOFoundationCompat

extension DataAPI {
    /// A part of a host's response: first one head, then any number of pieces of the body.
    ///
    ///     let answer: [DataAPI.ResponsePart] = [.head(status: 503, headers: ["Retry-After": "5"]), .body(Data())]
    public struct ResponsePart: Sendable, CustomStringConvertible, CustomReflectable {
        let part: HTTPResponsePart

        init(_ part: HTTPResponsePart) { self.part = part }

        /// Creates the head of a response.
        ///
        /// - Parameters:
        ///   - status: the status code, 200 to 599.
        ///   - headers: the headers. The default is none.
        public static func head(status: Int, headers: Headers = [:]) -> ResponsePart {
            ResponsePart(
                .head(
                    HTTPResponseHead(
                        version: .http1_1,
                        status: HTTPResponseStatus(statusCode: status),
                        headers: headers.fields
                    )
                )
            )
        }

        /// Creates a piece of the body, after decompression.
        public static func body(_ bytes: Data) -> ResponsePart { ResponsePart(.body(ByteBuffer(data: bytes))) }

        /// The status code; `nil` for a piece of the body.
        public var status: Int? { if case .head(let head) = part { Int(head.status.code) } else { nil } }
        /// The headers; `nil` for a piece of the body.
        public var headers: Headers? { if case .head(let head) = part { Headers(head.headers) } else { nil } }
        /// The bytes of a piece of the body; `nil` for the head.
        public var body: Data? { if case .body(let bytes) = part { Data(buffer: bytes) } else { nil } }
        /// The number of bytes of a piece of the body; 0 for the head.
        public var byteCount: Int { if case .body(let bytes) = part { bytes.readableBytes } else { 0 } }

        /// The status, or the number of bytes; never a header or a content.
        public var description: String { status.map { "head of \($0)" } ?? "\(byteCount) bytes" }
        /// Shows the ``description`` only.
        public var customMirror: Mirror { Mirror(self, children: ["part": description]) }
    }
}
