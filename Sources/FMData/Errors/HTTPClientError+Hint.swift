import FMHTTP

extension HTTPClientError {
    /// What to check or change, in terms of ``DataAPI/Config`` and of the server's `host`; `nil` when the error says it
    /// all. The hints for time limits are in `APIError+Timeout.swift`, where the limits of the call are known.
    var hint: String? {
        switch code {
        case .insecureScheme:
            "Use HTTPS, or allow it out loud: config.plainHTTP = .anywhereUnencrypted."
        case .shutdown: "Make another DataAPI.Server: one that was shut down stays so."

        // Connecting.
        case .unknownHost: "Is the host spelled right, and can this machine resolve it?"
        case .connectionRefused: "Is the server running, and listening on this port? A firewall may refuse, too."
        case .unusableProxy, .proxyFailure, .proxyAuthenticationRequired:
            "Unless config.proxy says otherwise the proxy comes from the environment: https_proxy and all_proxy name it as "
                + "\"http://user:password@host:port\", no_proxy lists hosts that need none."

        // TLS.
        case .plainHTTPServer: plainHTTPHint
        case .tlsServer: "Write \"https://\" in the server's host, or leave the scheme out."
        case .certificateUntrusted:
            "If this is your server, trust its authority (or its self-signed certificate): "
                + "config.tls.roots = .systemAnd(file: \"ca.pem\")."
        case .certificateExpired: "Renew the certificate on the server, with those of its chain."
        case .certificateNotYetValid: "Is the clock of this machine right?"
        case .certificateNameMismatch:
            "Write the server's host as its certificate does, or give the server a certificate for this name."
        case .certificatePinMismatch:
            "If the server's key was replaced on purpose, add this pin to config.tls.pinnedPublicKeys. "
                + "If not, somebody may stand in between."
        case .invalidTLSOptions:
            "See config.tls.roots and config.tls.clientCertificate. A relative path counts from the working directory."
        case .tlsFailure:
            "Does this port speak TLS 1.2 (or config.tls.minimumVersion) or later? A server that asks for a certificate needs "
                + "config.tls.clientCertificate."

        // Exchanging.
        case .connectionClosed where origin?.scheme == .http && isFirstContact:
            "A port for HTTPS closes so, too: then write \"https://\" in the server's host."
        case .responseTooLarge:
            "Ask for fewer records or portal rows, or stream them. The limit is config.maximumResponseBytes."
        default: nil
        }
    }

    private var plainHTTPHint: String {
        guard let origin else { return "Name the port for HTTPS in the server's host." }
        let plain = Origin(scheme: .http, host: origin.host, port: origin.port)
        return "Name the port for HTTPS in the server's host (it is 443 if none is named), or write \"\(plain)\""
            + (origin.isLoopback
                ? "." : " and allow it out loud: config.plainHTTP = .anywhereUnencrypted.")
    }
}
