import FMHTTP

/// An error of one part of the library, which says itself how a call reports it.
package protocol APIErrorConvertible: Error {
    var apiError: FMRest.APIError { get }
}

extension FMRest.APIError {
    /// Converts an error of any step of a request.
    package init(wrapping error: any Error) {
        self.init(wrapping: error, otherwise: .network)
    }

    /// Converts an error of any step of a request.
    ///
    /// - Parameter otherwise: the code for an error of an unknown type.
    package init(wrapping error: any Error, otherwise: Code) {
        switch error {
        case let error as FMRest.APIError:
            self = error
        case let error as HTTPClientError:
            self.init(error)
        case let error as DecodingFailure:
            self.init(error, underlying: error)
        case let error as DecodingError:
            self.init(DecodingFailure(error), underlying: error)
        case let error as EncodingError:
            self.init(.encoding, reason: "The request could not be written: \(error.location).", underlying: error)
        case let error as EncodingFailure:
            self.init(.encoding, reason: "\(error)", underlying: error)
        case let error as any APIErrorConvertible:
            self = error.apiError
        case is CancellationError:
            self.init(.cancelled, reason: "The task that waited for the value was cancelled.", underlying: error)
        default:
            self.init(otherwise, reason: "\(type(of: error))", underlying: error)
        }
    }

    /// Converts a failure to decode a value.
    private init(_ failure: DecodingFailure, underlying: any Error) {
        self.init(.decoding, reason: failure.summary, hint: failure.hint, underlying: underlying)
        fields = failure.fieldsOrPortals
    }

    /// Converts an error of the HTTP client.
    package init(_ error: HTTPClientError) {
        let code: Code
        switch error.code {
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .tooSlow, .totalTimeout, .queueTimeout: code = .timeout
        case .tlsFailure, .plainHTTPServer, .tlsServer, .certificateUntrusted, .certificateExpired,
            .certificateNotYetValid, .certificateNameMismatch, .certificateInvalid, .certificatePinMismatch,
            .invalidTLSOptions:
            code = .tls
        case .responseTooLarge, .headTooLarge: code = .responseTooLarge
        case .insecureScheme, .unusableProxy, .invalidRequest, .bodyFailed, .bodyLengthMismatch: code = .invalidRequest
        case .shutdown: code = .shutdown
        default: code = .network
        }
        self.init(
            code,
            reason: "\(error)",
            hint: error.hint,
            outcomeIsUnknown: error.mayHaveReachedTheDataAPI,
            underlying: error
        )
    }

    /// Adds the request to the error, unless it has one, and sets whether the outcome is unknown.
    ///
    /// Only a complete refusal by FileMaker proves that a write was not carried out. A head, half a body, a gateway's
    /// page or an unreadable body do not tell what FileMaker did.
    ///
    /// - Parameter isSafeToRepeat: whether a request that may have arrived has changed nothing, and can be sent again.
    func about(_ request: RequestSummary, isSafeToRepeat: Bool) -> Self {
        var error = self
        error.request = error.request ?? request
        let isUnreadable = code == .decoding || code == .notDataAPI
        // A 401 or 429 (RFC 6585 §4) that is no answer of a Data API comes from a proxy, which did not pass the request
        // on.
        let isTurnedAway = httpStatus == 401 || httpStatus == 429
        error.outcomeIsUnknown = !isSafeToRepeat && (outcomeIsUnknown || isUnreadable && !isTurnedAway)
        return error
    }
}

extension HTTPClientError {
    /// Whether the request, or a part of it, may have reached the Data API.
    fileprivate var mayHaveReachedTheDataAPI: Bool {
        // A port for HTTPS does not accept a request in plain HTTP.
        outcome != .notSent && code != .tlsServer
    }
}

extension EncodingError {
    fileprivate var location: String {
        switch self {
        case .invalidValue(let value, let context):
            "a \(type(of: value)) that cannot be written at \(context.codingPath.readable)"
        @unknown default:
            "unknown place"
        }
    }
}

extension [any CodingKey] {
    /// The path as text: `data[3].fieldData.Qty`, or "the top".
    var readable: String {
        guard !isEmpty else { return "the top" }
        var text = ""
        for key in self {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text
    }
}

extension HTTPClientError {
    /// What to check or change, in terms of ``DataAPI/Config`` and of the server's `host`; `nil` when the error says it
    /// all. The hints for time limits stand below, where the limits of the call are known.
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

extension FMRest.APIError {
    /// The hint for a URL that is too long. Only a script's parameter can make it that long.
    static let hintAtLength =
        "Web servers take 2,000 to 8,000 characters. runScript sends a .confidential parameter in a body; finds, creates, "
        + "edits and duplicates send the parameters of their scripts there, too."
}

extension FMRest.APIError {
    /// Describes a timeout of the HTTP client in the terms of ``DataAPI/Timeouts``: what the call was waiting for,
    /// which limit passed, and where it is set. Other errors stay as they are.
    func naming(_ timeouts: HTTPTimeouts) -> Self {
        guard code == .timeout, let cause = transportError else { return self }
        var error = self
        switch cause.code {
        case .queueTimeout:
            error.name(cause, "a connection, while all were busy", "queue", timeouts.queue?.description)
            error.advise("More connections (Config.maximumConnections) may help.")
        case .connectTimeout:
            error.name(cause, "a connection", "connect", timeouts.connect?.description)
            error.advise("Firewalls that drop what they forbid look like this.")
        case .firstByteTimeout:
            error.name(cause, "the answer", "firstByte", timeouts.firstByte?.description)
            error.advise("Scripts and finds in unindexed fields take their time.")
        case .idleTimeout:
            error.name(cause, cause.outcome.nextStep, "idle", timeouts.idle?.description)
        case .tooSlow:
            error.name(
                cause,
                cause.outcome.nextStep,
                "minimumRate",
                timeouts.minimumRate.map { "\($0) bytes per second" }
            )
            error.hint =
                "Config.timeouts.minimumRate is for all calls, .timeouts { $0.minimumRate = … } for one; nil is no limit."
        case .totalTimeout:
            error.name(cause, cause.outcome.nextStep, "total", timeouts.total?.description)
        default:
            break
        }
        return error
    }

    private mutating func name(_ cause: HTTPClientError, _ awaited: String, _ setting: String, _ limit: String?) {
        let span = limit.map { ", \($0)" } ?? ""
        reason = "\(cause). The call waited for \(awaited); the limit was timeouts.\(setting)\(span)."
        hint =
            "Config.timeouts.\(setting) says how long all calls wait, .timeouts { $0.\(setting) = … } how long one does."
    }

    private mutating func advise(_ advice: String) {
        hint = advice + (hint.map { " " + $0 } ?? "")
    }
}

extension HTTPClientError.Outcome {
    /// What the request waits for next, by what is known of its outcome.
    fileprivate var nextStep: String {
        switch self {
        case .notSent: "a connection"
        case .unknown: "the answer"
        case .answered: "the rest of the answer"
        }
    }
}
