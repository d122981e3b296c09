/// The simulated OAuth provider: the two requests that precede an OAuth login, and the page on which a browser signs
/// in.
///
/// Source: Claris FileMaker Data API Guide, "Log in to a database session using an OAuth identity provider".
extension Responder {
    func oauth(_ call: Call) throws -> Answer {
        switch call.route.field {
        case "oauthproviderinfo": return Answer(Self.providers())
        case "getoauthurl": return Answer(try beginSignIn(call))
        default: return Answer(try signIn(call))
        }
    }

    /// `GET /fmws/oauthproviderinfo`
    private static func providers() -> SandboxResponse {
        let info: JSONValue = ["data": ["Provider": [["Name": .string(OAuthProvider.providerName)]]], "result": "0"]
        return SandboxResponse(
            status: 200,
            headers: [("Content-Type", "application/json; charset=utf-8")],
            body: JSONWriter.write(info)
        )
    }

    /// `GET /oauth/getoauthurl`: the URL of the sign-in page, to be opened in a browser.
    private func beginSignIn(_ call: Call) throws -> SandboxResponse {
        guard call.query["provider"] == OAuthProvider.providerName, let tracking = call.query["trackingID"] else {
            throw FileMakerError(1708)
        }
        let requestId = engine.withState {
            $0.oauth.begin(trackingId: tracking, returnURL: call.request.header("x-fms-return-url"))
        }
        let page = "\(call.request.origin)\(Self.signInPath(tracking, requestId))"
        return SandboxResponse(
            status: 200,
            headers: [("Content-Type", "text/plain"), ("X-FMS-Request-ID", requestId)],
            body: Array(page.utf8)
        )
    }

    private static func signInPath(_ tracking: String, _ requestId: String) -> String {
        "/oauth/signin?trackingID=\(PercentCoding.encode(tracking))&requestId=\(requestId)"
    }

    /// `GET /oauth/signin`: a page that lists the OAuth accounts. With the parameter `account`, that account signs in,
    /// and the browser is redirected to the client's return URL with `trackingID` and `identifier`. Without a return
    /// URL, the page shows the identifier.
    private func signIn(_ call: Call) throws -> SandboxResponse {
        let requestId = call.query["requestId"] ?? ""
        guard let request = engine.withState({ $0.oauth.pending[requestId] }) else { throw FileMakerError(1708) }
        let names = engine.model.databases.flatMap(\.accounts).filter { $0.kind == .oauth && $0.isActive }.map(\.name)
        guard let account = call.query["account"] else {
            let links = Set(names).sorted().map { name in
                let target = "\(Self.signInPath(request.trackingId, requestId))&account=\(PercentCoding.encode(name))"
                return "<li><a href=\"\(Self.html(target))\">\(Self.html(name))</a></li>"
            }
            return Self.page(
                "Sign in as",
                links.isEmpty ? "No database has an OAuth account." : "<ul>\(links.joined())</ul>"
            )
        }
        guard names.contains(account),
            let identifier = engine.withState({ $0.oauth.signIn(account: account, requestId: requestId) })
        else { throw FileMakerError(1708) }
        let result = "trackingID=\(PercentCoding.encode(request.trackingId))&identifier=\(identifier)"
        guard let returnURL = request.returnURL else {
            return Self.page("Signed in", "<p>\(Self.html(account))</p><p>identifier: <code>\(identifier)</code></p>")
        }
        let location = "\(returnURL)\(returnURL.contains("?") ? "&" : "?")\(result)"
        return SandboxResponse(status: 302, headers: [("Location", location)], body: [])
    }

    private static func page(_ title: String, _ content: String) -> SandboxResponse {
        let text =
            "<!DOCTYPE html><html><head><title>\(title)</title></head><body><h1>\(title)</h1>\(content)</body></html>\n"
        return SandboxResponse(
            status: 200,
            headers: [("Content-Type", "text/html; charset=utf-8")],
            body: Array(text.utf8)
        )
    }

    private static func html(_ text: String) -> String {
        text.reduce(into: "") { html, character in
            switch character {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            default: html.append(character)
            }
        }
    }
}
