import FMHTTP
import NIOCore

// The answers of the two calls before an OAuth login. They are not part of the Data API and have no messages.

/// The list of providers, `{"data":{"Provider":[{"Name":"Google"}]}}`: not an answer of the Data API, so without
/// messages.
struct OAuthProviderList: Decodable {
    private struct Providers: Decodable {
        var list: [DataAPI.OAuthProvider]?

        enum CodingKeys: String, CodingKey {
            case list = "Provider"
        }
    }

    private var data: Providers?

    var providers: [DataAPI.OAuthProvider] { data?.list ?? [] }
}

extension OAuthProviderList: DataAPIResponse {
    final class Collector: AnswerCollector {
        private let body: WholeAnswer<OAuthProviderList>

        init(reader: AnswerReader) {
            body = WholeAnswer(reader: reader)
        }

        func take(_ part: HTTPResponsePart) { body.take(part) }

        func response() throws -> OAuthProviderList { try body.bareResponse() }
    }
}

/// The answer that begins a sign-in, with the request id in a header and the URL of the provider's page as the body.
struct OAuthStart: Decodable {
    var requestId: String
    var url: String
}

extension OAuthStart: DataAPIResponse {
    final class Collector: AnswerCollector {
        private static let requestIdHeader = "X-FMS-Request-ID"
        private static let whitespace: Set<Character> = [" ", "\t", "\r", "\n", "\r\n"]

        private let body: WholeAnswer<OAuthStart>

        init(reader: AnswerReader) {
            body = WholeAnswer(reader: reader)
        }

        func take(_ part: HTTPResponsePart) { body.take(part) }

        func response() throws -> OAuthStart {
            let answer = try body.bareAnswer()
            let url = String(buffer: answer.body).drop { Self.whitespace.contains($0) }
                .prefix { !Self.whitespace.contains($0) }
            guard let requestId = answer.headers.first(name: Self.requestIdHeader), !requestId.isEmpty, !url.isEmpty
            else {
                throw FMRest.APIError(
                    .notDataAPI,
                    reason: "The answer has no request id or no page to sign in at.",
                    hint: "Is the provider one of getOAuthProviders(), and switched on in the Admin Console?",
                    httpStatus: Int(answer.status.code)
                )
            }
            return OAuthStart(requestId: requestId, url: String(url))
        }
    }
}
