import FMData

/// The text of a library error for users of the command. The library's advice names Swift settings; here it names the
/// command's options, and advice that no option can follow is left out.
struct ErrorText: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        guard var error = error as? FMRest.APIError else {
            description = "\(error)"
            return
        }
        error.reason = Self.reason(of: error)
        error.hint = Self.hint(for: error)
        description = error.description
    }

    /// What has happened, without the names of settings and the counts of sessions, which a command has one of.
    static func reason(of error: FMRest.APIError) -> String {
        error.reason.replacing(#/\b(?:timeouts|sessions)\.[a-z][A-Za-z]*, /#, with: "")
            .replacing(#/: \d+ of \d+ sessions, [^.]*? logouts(?:, [^.]*)?(?=\.)/#, with: "")
    }

    /// The advice for an error; nil if there is none.
    static func hint(for error: FMRest.APIError) -> String? {
        guard let hint = error.hint else { return nil }
        if error.fileMakerCode == .recordMissing, error.request?.name(after: "records") != nil {
            return "No record of the layout's table has this id, or the account may not see it."
        }
        return error.transportError.flatMap(hint(for:)) ?? withoutSwift(hint)
    }

    /// The advice for a failure of the transport; nil if there is none, or if the library's own has no Swift in it.
    static func hint(for error: DataAPI.TransportError) -> String? {
        switch error.code {
        case .insecureScheme: "Plain HTTP goes to this machine only: write https:// in --host, or leave the scheme out."
        case .plainHTTPServer: "Name the port for HTTPS in --host (it is 443 if none is named)."
        case .tlsServer: "Write https:// in --host, or leave the scheme out."
        case .connectionClosed: "A port for HTTPS closes so, too: then write https:// in --host."
        case .certificateUntrusted:
            "If this is your server, trust its authority (or its self-signed certificate): --ca ca.pem."
        case .certificateNameMismatch:
            "Write --host as the certificate does, or give the server a certificate for this name."
        case .certificatePinMismatch:
            "If the key was replaced on purpose, pin the new one: fmdata login --pin. Otherwise somebody may be in between."
        case .invalidTLSOptions: "--ca takes a file with one or more certificates as PEM."
        case .tlsFailure: "Does this port speak TLS 1.2 or later, and without asking for a certificate of the client?"
        case .unusableProxy, .proxyFailure, .proxyAuthenticationRequired:
            "The proxy comes from the environment: https_proxy and all_proxy name it as "
                + "\"http://user:password@host:port\", no_proxy lists hosts that need none."
        case .connectTimeout:
            "Firewalls that drop what they forbid look like this, and so does a server that takes connections and says nothing."
        default: nil
        }
    }

    /// The sentences without Swift names such as `config.tls.roots` and `maximumSessions`; nil if none is left.
    private static func withoutSwift(_ hint: String) -> String? {
        // The names in such a question come from a file.
        if hint.hasPrefix("Did you mean") { return hint }
        let sentences = hint.replacing(". ", with: ".\n").split(separator: "\n")
            .filter { !$0.contains(#/\b[A-Za-z]+\.[a-z]|\b[a-z]+[A-Z]|\(_:/#) }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }
}
