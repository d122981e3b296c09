import Foundation

/// How the content of a container is fetched, as events in and actions out.
///
/// The story, as servers of different ages tell it:
/// 1. A GET of the field's URL, with the session's token.
/// 2. The usual answer is a redirect (302) to the same resource, absolute or relative, with a session cookie: followed
///    once, with the cookie. Some servers answer 401 with the cookie instead: the same URL once more, with it.
/// 3. Then comes the content (200); a server may also send it at once.
/// 4. A 401 without a new cookie, a redirect without a cookie or a second redirect say that the session behind the URL
///    is gone: a fresh session, and all over again with an empty jar, once.
///
/// The token goes to the server's own origin only, and never after a detour over another one; nothing goes to another
/// origin at all unless the caller allows it; a redirect from https to http is never followed. A URL of the Data API
/// itself is refused: a field's text must not become a request that runs a script under the session. At most six
/// requests are made, three per session: the URL, the same with a cookie, the target of the redirect.
struct ContainerDownloadStateMachine: Sendable {
    /// What to send.
    struct Request: Hashable, Sendable {
        let origin: WebOrigin
        /// Path and query, percent-encoded.
        let target: String
        /// Whether the session's token goes along, as `Authorization: Bearer`.
        let carriesToken: Bool
        /// The value of the `Cookie` header.
        let cookies: String?
    }

    /// Why there is no content.
    enum Failure: Hashable, Sendable {
        /// The container's text, or a redirect, is no `http` or `https` URL of a container.
        case notAContainerURL
        /// The URL, or a redirect, leads to another origin than the server's.
        case foreignOrigin(WebOrigin)
        /// A redirect leads from https to http.
        case insecureRedirect
        /// A redirect without a readable `Location`.
        case invalidLocation
        /// The URL is out of date, and a fresh session did not revive it: read the record again.
        case stale
        /// The server refuses the session, also a fresh one.
        case unauthorized
        /// Another status than the exchange knows.
        case status(Int)
    }

    enum StartAction: Hashable, Sendable {
        case send(Request)
        case fail(Failure)
    }

    enum HeadAction: Hashable, Sendable {
        /// The body that follows is the content.
        case deliverBody
        /// Drop the body that follows, then send this.
        case send(Request)
        /// Drop the body that follows, then get a fresh session and report ``sessionRefreshed(now:)``.
        case refreshSession
        /// Drop the body that follows.
        case fail(Failure)
    }

    private enum State {
        /// → `awaitingHead`, `over`
        case idle
        /// A request is on its way. → `awaitingHead`, `refreshing`, `over`
        case awaitingHead(Attempt)
        /// A fresh session was asked for. → `awaitingHead`
        case refreshing
        /// The content flows, or the exchange failed.
        case over
    }

    /// The exchange under one session.
    private struct Attempt {
        var url: URLReference
        var jar = CookieJar()
        var hasFollowedRedirect = false
        var hasRepeatedWithCookie = false
        /// Whether every URL so far was the server's own: one that is not could lead back to the server wherever it
        /// likes.
        var hasStayedHome: Bool
    }

    private let start: URLReference?
    private let server: WebOrigin
    private let allowsForeignOrigins: Bool
    private var hasRefreshedSession = false
    private var state = State.idle

    /// - Parameters:
    ///   - url: The text of the container field.
    ///   - server: The origin that the token belongs to.
    ///   - allowsForeignOrigins: Whether content may be fetched from other origins as well, always without the token.
    init(url: String, server: WebOrigin, allowsForeignOrigins: Bool = false) {
        self.start = URLReference(url)
        self.server = server
        self.allowsForeignOrigins = allowsForeignOrigins
    }

    /// The download begins.
    mutating func started(now: Date) -> StartAction {
        guard case .idle = state else { preconditionFailure("A download starts once.") }
        return begin(now: now)
    }

    /// The head of an answer has arrived.
    mutating func headReceived(status: Int, location: String?, setCookies: [String], now: Date) -> HeadAction {
        guard case .awaitingHead(var attempt) = state else {
            preconditionFailure("A head arrives only after a request was sent.")
        }
        // Only a cookie that goes back counts; a server may set others on the way.
        let previousCookies = attempt.jar.header(for: attempt.url, now: now)
        for cookie in setCookies {
            attempt.jar.store(setCookie: cookie, from: attempt.url, now: now)
        }
        switch status {
        case 200, 203, 204:
            state = .over
            return .deliverBody
        case 301, 302, 303, 307, 308:
            return redirected(attempt, to: location, now: now)
        case 401:
            let hasNewCookie = attempt.jar.header(for: attempt.url, now: now) != previousCookies
            guard hasNewCookie, !attempt.hasRepeatedWithCookie else {
                return startOver(orFailWith: .unauthorized, at: attempt.url)
            }
            attempt.hasRepeatedWithCookie = true
            return send(attempt, now: now)
        default:
            return fail(.status(status))
        }
    }

    /// The fresh session that was asked for is there.
    mutating func sessionRefreshed(now: Date) -> StartAction {
        guard case .refreshing = state else { preconditionFailure("No fresh session was asked for.") }
        return begin(now: now)
    }

    private mutating func begin(now: Date) -> StartAction {
        guard let start, let origin = start.origin else { return failStart(.notAContainerURL) }
        if let failure = refusal(of: start, at: origin) { return failStart(failure) }
        let attempt = Attempt(url: start, hasStayedHome: origin == server)
        state = .awaitingHead(attempt)
        return .send(request(for: attempt, at: origin, now: now))
    }

    private mutating func redirected(_ attempt: Attempt, to location: String?, now: Date) -> HeadAction {
        guard let target = location.flatMap(URLReference.init).map(attempt.url.resolving), let origin = target.origin
        else { return fail(.invalidLocation) }
        if let failure = refusal(of: target, at: origin) { return fail(failure) }
        guard attempt.url.origin?.scheme != .https || origin.scheme == .https else { return fail(.insecureRedirect) }
        guard !attempt.jar.isEmpty, !attempt.hasFollowedRedirect else {
            return startOver(orFailWith: .stale, at: attempt.url)
        }
        var attempt = attempt
        attempt.url = target
        attempt.hasFollowedRedirect = true
        attempt.hasStayedHome = attempt.hasStayedHome && origin == server
        return send(attempt, now: now)
    }

    private mutating func send(_ attempt: Attempt, now: Date) -> HeadAction {
        guard let origin = attempt.url.origin else { return fail(.invalidLocation) }
        state = .awaitingHead(attempt)
        return .send(request(for: attempt, at: origin, now: now))
    }

    /// A fresh session helps once, and only where the token goes.
    private mutating func startOver(orFailWith failure: Failure, at url: URLReference) -> HeadAction {
        guard !hasRefreshedSession, url.origin == server else { return fail(failure) }
        hasRefreshedSession = true
        state = .refreshing
        return .refreshSession
    }

    private mutating func fail(_ failure: Failure) -> HeadAction {
        state = .over
        return .fail(failure)
    }

    private mutating func failStart(_ failure: Failure) -> StartAction {
        state = .over
        return .fail(failure)
    }

    private func refusal(of url: URLReference, at origin: WebOrigin) -> Failure? {
        guard origin == server || allowsForeignOrigins else { return .foreignOrigin(origin) }
        return origin == server && url.leadsIntoTheAPI ? .notAContainerURL : nil
    }

    private func request(for attempt: Attempt, at origin: WebOrigin, now: Date) -> Request {
        Request(
            origin: origin,
            target: attempt.url.target,
            carriesToken: attempt.hasStayedHome,
            cookies: attempt.jar.header(for: attempt.url, now: now)
        )
    }
}

extension URLReference {
    /// Whether any segment of the path says `fmi`, under which the host keeps its interfaces. Content lies below
    /// `/Streaming_SSL/` under names of hexadecimal digits. Escapes are undone first, as the host will do, and a
    /// backslash counts as a slash, as it does for a host on Windows.
    fileprivate var leadsIntoTheAPI: Bool {
        decodedPath.split { $0 == "/" || $0 == "\\" }.contains { $0.lowercased() == "fmi" }
    }
}
