import FMHTTP

/// The response of a login: the token of the new session.
struct LoginResponse: Decodable {
    var token: String?
    /// The host's `Date`, unread.
    var date: String?

    enum CodingKeys: CodingKey { case token }
}

extension LoginResponse: DataAPIResponse {
    /// The guide's OAuth and data-source examples have an empty body. Then the token is only in a header, so the header
    /// is preferred.
    final class Collector: AnswerCollector {
        private static let tokenHeader = "X-FM-Data-Access-Token"

        private let body: WholeAnswer<LoginResponse>
        private var token: String?
        private var date: String?

        init(reader: AnswerReader) {
            body = WholeAnswer(reader: reader)
        }

        func take(_ part: HTTPResponsePart) {
            if case .head(let head) = part {
                token = head.headers.first(name: Self.tokenHeader)
                date = head.headers.first(name: "Date")
            }
            body.take(part)
        }

        func response() throws -> LoginResponse {
            let response = try body.response()
            return LoginResponse(token: token ?? response.token, date: date)
        }
    }
}
