import FMHTTP
import Foundation
import NIOCore

extension DataAPIRequest {
    /// The request as the HTTP client sends it, with the headers that authenticate it.
    ///
    /// - Parameters:
    ///   - origin: the origin of the server, or the error of a host text that names none.
    ///   - apiRoot: the first part of the path of every Data API call.
    ///   - token: the token of the session that the request is sent in.
    func http(
        to origin: Result<Origin, FMRest.APIError>,
        below apiRoot: String,
        userAgent: String,
        token: SessionToken?
    ) throws -> HTTPRequest {
        var headers: HTTPHeaders = ["User-Agent": userAgent, "Accept": "application/json"]
        headers.reserveCapacity(4)
        switch authorization {
        case .none: break
        case .session: if let token { headers.add(name: "Authorization", value: token.bearer) }
        case .credentials(let credentials): try credentials.sign(&headers)
        }
        headers.add(contentsOf: self.headers)
        let httpBody: HTTPBody
        switch body {
        case .none: httpBody = .none
        case .json:
            httpBody = .bytes(ByteBuffer(bytes: options.json))
            headers.add(name: "Content-Type", value: "application/json")
        case .raw(let json):
            httpBody = .bytes(json)
            headers.add(name: "Content-Type", value: "application/json")
        case .multipart(let form):
            httpBody = .stream(length: form.contentLength, isReplayable: form.isReplayable, form.chunks)
            headers.add(name: "Content-Type", value: form.contentType)
        }
        var http = HTTPRequest(
            method: method,
            origin: try origin.get(),
            target: try target(below: apiRoot),
            headers: headers,
            body: httpBody,
            isSafeToRepeat: isSafeToRepeat,
            timeouts: try context.limits?.checked()
        )
        http.willBeSent = context.willBeSent
        return http
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
