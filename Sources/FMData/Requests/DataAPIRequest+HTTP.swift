import FMHTTP
import Foundation
import NIOCore

extension DataAPI.Server {
    /// The request as the HTTP client sends it, with the headers that authenticate it.
    func httpRequest<Response>(
        for request: DataAPIRequest<Response>,
        token: SessionToken?
    ) throws -> HTTPRequest {
        var headers: HTTPHeaders = ["User-Agent": config.userAgent, "Accept": "application/json"]
        headers.reserveCapacity(4)
        switch request.authorization {
        case .none: break
        case .session: if let token { headers.add(name: "Authorization", value: token.bearer) }
        case .credentials(let credentials): try credentials.sign(&headers)
        }
        headers.add(contentsOf: request.headers)
        let body: HTTPBody
        switch request.body {
        case .none: body = .none
        case .json:
            body = .bytes(ByteBuffer(bytes: request.options.json))
            headers.add(name: "Content-Type", value: "application/json")
        case .multipart(let form):
            body = .stream(length: form.contentLength, isReplayable: form.isReplayable, form.chunks)
            headers.add(name: "Content-Type", value: form.contentType)
        }
        var http = HTTPRequest(
            method: request.method,
            origin: try origin.get(),
            target: try target(of: request),
            headers: headers,
            body: body,
            isSafeToRepeat: request.isSafeToRepeat,
            timeouts: try request.context.limits?.checked()
        )
        http.willBeSent = request.context.willBeSent
        return http
    }

    /// Path and query of a request, percent-encoded.
    func target<Response>(of request: DataAPIRequest<Response>) throws(FMRest.APIError) -> String {
        try root(of: request) + request.encodedTarget()
    }

    /// The first part of a request's path: `/fmi/data/vLatest`, or nothing.
    func root<Response>(of request: DataAPIRequest<Response>) -> String {
        switch request.root {
        case .dataAPI: apiRoot
        case .host: ""
        }
    }
}

extension DataAPI.Credentials {
    /// Adds the headers that authenticate the request.
    fileprivate func sign(_ headers: inout HTTPHeaders) throws(FMRest.APIError) {
        switch secret {
        case .basic(let user, let password):
            guard !user.utf8.contains(UInt8(ascii: ":")) else {
                throw FMRest.APIError(.invalidRequest, reason: "An account name cannot hold a colon.")
            }
            let pair = Data("\(user):\(password)".utf8).base64EncodedString()
            headers.add(name: "Authorization", value: "Basic \(pair)")
        case .oAuth(let requestId, let identifier):
            headers.add(name: "X-FM-Data-OAuth-Request-Id", value: requestId)
            headers.add(name: "X-FM-Data-OAuth-Identifier", value: identifier)
        case .clarisId(let idToken):
            headers.add(name: "Authorization", value: "FMID \(idToken)")
        case .token(let token), .key(let token):
            headers.add(name: "Authorization", value: "Bearer \(token)")
        case .invalid:
            throw FMRest.APIError(
                .unauthorized,
                reason: "There are no credentials to log in with.",
                hint: "Give them to addDatabase(_:credentials:) or login(credentials:)."
            )
        }
    }
}
