import FMHTTP
import NIOCore

/// An unread answer of the OData interface; error answers are included.
package struct ODataAnswer: Decodable, Sendable {
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

extension ODataAnswer: DataAPIResponse {
    package final class Collector: AnswerCollector {
        /// Enough for a list of webhooks with all their pending deliveries. A larger answer is an error.
        private static let maximumBytes = 16 << 20

        private var status = HTTPResponseStatus.ok
        private var body = ByteBuffer()

        package init(reader: AnswerReader) {}

        package func take(_ part: HTTPResponsePart) throws {
            switch part {
            case .head(let head): status = head.status
            case .body(var bytes):
                guard body.readableBytes + bytes.readableBytes <= Self.maximumBytes else {
                    throw FMRest.APIError(
                        .responseTooLarge,
                        reason: "An OData answer has more than \(Self.maximumBytes) bytes.",
                        httpStatus: Int(status.code)
                    )
                }
                body.writeBuffer(&bytes)
            }
        }

        package func response() -> ODataAnswer {
            ODataAnswer(status: Int(status.code), body: Array(body.readableBytesView))
        }
    }
}
