import FMHTTP
import Foundation

/// Decides how the content of a container is fetched under one session: events in, actions out.
///
/// The steps, with the differences between server versions:
/// 1. The client sends a GET of the field's URL, with the session's token.
/// 2. The usual answer is a redirect (302) to the same resource, absolute or relative, with a session cookie. It is
///    followed once, with the cookie. Some servers answer 401 with the cookie instead; then the same URL is requested
///    once more with the cookie.
/// 3. The server sends the content (200). It may also do so at once.
/// 4. If the caller allows other origins, a redirect may also lead to one of them, and then needs no cookie: content on
///    other origins is not bound to the server's session.
/// 5. A 401 without a new cookie, any other redirect without a cookie, or a second redirect means that the URL is out
///    of date or that its session has ended. The server is then asked whether the session is alive. If not, everything
///    starts over with a fresh session and no cookies, as for any other request. If it is, the URL is out of date and
///    the download fails.
///
/// The token is sent to the server's own origin only, compared by scheme, host and port
/// (`https://good.example.evil.com` begins like `https://good.example`), and never after a redirect by way of another
/// origin. Requests go to other origins only if the caller allows it, and a redirect from https to http is never
/// followed. A URL of the Data API itself is refused, since a field's text must not cause a request that runs a script
/// under the session. At most three requests are made: the URL, the same URL with a cookie, and the target of the
/// redirect.
///
/// It is a value type: each attempt starts with its own copy, and so without cookies.
struct ContainerDownloadStateMachine: Sendable {
    /// A request to send.
    struct Request: Hashable, Sendable {
        let origin: Origin
        /// The path and query, percent-encoded.
        let target: String
        /// Whether to send the session's token, as `Authorization: Bearer`.
        let carriesToken: Bool
        /// The value of the `Cookie` header.
        let cookies: String?
    }

    enum HeadAction: Hashable, Sendable {
        /// The body that follows is the content: deliver it.
        case deliverBody
        /// Drop the body that follows, then send this.
        case send(Request)
        /// Drop the body that follows, then ask the server whether the session is alive. If it is, the URL is out of
        /// date.
        case doubtSession
        /// Drop the body that follows.
        case fail(DataAPI.ContainerError)
    }

    private enum State {
        /// → `awaitingHead`
        case idle
        /// A request is on its way. → `awaitingHead`, `over`
        case awaitingHead(Exchange)
        /// The content follows, or the download has failed.
        case over
    }

    private struct Exchange {
        var url: URLReference
        var origin: Origin
        var jar = CookieJar()
        var hasFollowedRedirect = false
        var hasRepeatedWithCookie = false
        /// Whether every URL so far was on the server's own origin. Another origin could redirect to any URL of the
        /// server, so the token is not sent after it.
        var hasStayedHome: Bool
    }

    private let start: Exchange
    private let server: Origin
    private let allowsForeignOrigins: Bool
    private var state = State.idle

    /// - Parameters:
    ///   - url: The text of the container field.
    ///   - server: The origin that the token belongs to.
    ///   - allowsForeignOrigins: Whether content may be fetched from other origins as well, always without the token.
    /// - Throws: A ``DataAPI/ContainerError`` when no request may be sent for this text.
    init(url: String, server: Origin, allowsForeignOrigins: Bool = false) throws(DataAPI.ContainerError) {
        guard let start = URLReference(url), let origin = start.origin else { throw DataAPI.ContainerError(.notAURL) }
        self.start = Exchange(url: start, origin: origin, hasStayedHome: origin == server)
        self.server = server
        self.allowsForeignOrigins = allowsForeignOrigins
        if let refusal = refusal(of: start, at: origin) { throw refusal }
    }

    /// The download begins.
    mutating func started(now: Date) -> Request {
        guard case .idle = state else { preconditionFailure("A download starts once.") }
        state = .awaitingHead(start)
        return request(for: start, now: now)
    }

    /// The head of an answer has arrived.
    mutating func headReceived(status: Int, location: String?, setCookies: [String], now: Date) -> HeadAction {
        guard case .awaitingHead(var exchange) = state else {
            preconditionFailure("A head arrives only after a request was sent.")
        }
        // Only a cookie that will be sent with the next request counts; a server may set others as well.
        let previousCookies = exchange.jar.header(for: exchange.url, now: now)
        for cookie in setCookies {
            exchange.jar.store(setCookie: cookie, from: exchange.url, now: now)
        }
        switch status {
        case 200, 203, 204:
            state = .over
            return .deliverBody
        case 301, 302, 303, 307, 308:
            return redirected(exchange, to: location, now: now)
        case 401:
            let hasNewCookie = exchange.jar.header(for: exchange.url, now: now) != previousCookies
            guard hasNewCookie, !exchange.hasRepeatedWithCookie else { return refused(exchange) }
            exchange.hasRepeatedWithCookie = true
            return send(exchange, now: now)
        default:
            return fail(.init(.unavailable, httpStatus: status))
        }
    }

    private mutating func redirected(_ exchange: Exchange, to location: String?, now: Date) -> HeadAction {
        guard let target = location.flatMap(URLReference.init).map(exchange.url.resolving), let origin = target.origin
        else { return fail(.init(.invalidRedirect)) }
        if let refusal = refusal(of: target, at: origin) { return fail(refusal) }
        guard exchange.origin.scheme != .https || origin.scheme == .https else { return fail(.init(.insecureRedirect)) }
        let mayBeFollowed = origin != server || !exchange.jar.isEmpty
        guard mayBeFollowed, !exchange.hasFollowedRedirect else { return refused(exchange) }
        var exchange = exchange
        exchange.url = target
        exchange.origin = origin
        exchange.hasFollowedRedirect = true
        exchange.hasStayedHome = exchange.hasStayedHome && origin == server
        return send(exchange, now: now)
    }

    private mutating func send(_ exchange: Exchange, now: Date) -> HeadAction {
        state = .awaitingHead(exchange)
        return .send(request(for: exchange, now: now))
    }

    /// An ended session can be the reason only if its token was sent with every request.
    private mutating func refused(_ exchange: Exchange) -> HeadAction {
        state = .over
        return exchange.hasStayedHome ? .doubtSession : .fail(.init(.stale))
    }

    private mutating func fail(_ error: DataAPI.ContainerError) -> HeadAction {
        state = .over
        return .fail(error)
    }

    private func refusal(of url: URLReference, at origin: Origin) -> DataAPI.ContainerError? {
        guard origin == server || allowsForeignOrigins else { return .init(.foreignOrigin, origin: "\(origin)") }
        return origin == server && url.leadsIntoTheAPI ? .init(.notAURL) : nil
    }

    private func request(for exchange: Exchange, now: Date) -> Request {
        Request(
            origin: exchange.origin,
            target: exchange.url.target,
            carriesToken: exchange.hasStayedHome,
            cookies: exchange.jar.header(for: exchange.url, now: now)
        )
    }
}

extension URLReference {
    /// Whether any segment of the path is `fmi`, under which the host has its interfaces. Content lies below
    /// `/Streaming_SSL/` under names of hexadecimal digits. Escapes are decoded first, as the host does, and a
    /// backslash counts as a slash, as on Windows hosts. The path is split by bytes: as a `Character`, a slash followed
    /// by a combining accent is not a slash.
    fileprivate var leadsIntoTheAPI: Bool {
        decodedPath.utf8.split { "/\\".utf8.contains($0) }.contains { $0.map { $0 | 0x20 } == Array("fmi".utf8) }
    }
}
