import FMHTTP

/// What a login brings: the token of the new session.
struct LoginResponse: Decodable {
    var token: String?
}

extension LoginResponse: DataAPIResponse {
    /// The guide's OAuth and data-source examples show an empty body: the token is then in a header alone, so that is read
    /// first.
    final class Collector: AnswerCollector {
        private static let tokenHeader = "X-FM-Data-Access-Token"

        private let body: WholeAnswer<LoginResponse>
        private var token: String?

        init(reader: AnswerReader) {
            body = WholeAnswer(reader: reader)
        }

        func take(_ part: HTTPResponsePart) {
            if case .head(let head) = part { token = head.headers.first(name: Self.tokenHeader) }
            body.take(part)
        }

        func response() throws -> LoginResponse {
            let response = try body.response()
            return LoginResponse(token: token ?? response.token)
        }
    }
}
