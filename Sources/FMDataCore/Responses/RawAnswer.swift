import FMHTTP
import Foundation
import NIOCore

/// An answer as the server sent it. Its messages are checked like those of all answers.
struct RawAnswer: Decodable {
    var json: Data
}

extension RawAnswer: DataAPIResponse {
    final class Collector: AnswerCollector {
        private let whole: WholeAnswer<FMRest.EmptyResponse>
        private var json = Data()

        init(reader: AnswerReader) { whole = WholeAnswer(reader: reader) }

        func take(_ part: HTTPResponsePart) {
            if case .body(let bytes) = part { json.append(contentsOf: bytes.readableBytesView) }
            whole.take(part)
        }

        func response() throws -> RawAnswer {
            _ = try whole.response()
            return RawAnswer(json: json)
        }
    }
}
