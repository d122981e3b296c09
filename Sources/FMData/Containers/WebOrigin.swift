/// Scheme, host and port: what decides where a token may go
/// ([RFC 6454 §4](https://www.rfc-editor.org/rfc/rfc6454#section-4)). Compared as a whole and never by the beginning of
/// a URL, since `https://good.example.evil.com` begins like `https://good.example`.
struct WebOrigin: Hashable, Sendable {
    enum Scheme: String, Hashable, Sendable {
        case http, https

        var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    let scheme: Scheme
    /// In lower case; an IPv6 address without its brackets.
    let host: String
    let port: Int

    init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        let host = host.lowercased()
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port ?? scheme.defaultPort
    }
}
