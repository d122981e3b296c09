import FMHTTP

/// An error of one part of the library, which says itself how a call reports it.
protocol APIErrorConvertible: Error {
    var apiError: FMRest.APIError { get }
}

extension FMRest.APIError {
    /// Converts an error of any step of a request.
    init(wrapping error: any Error) {
        self.init(wrapping: error, otherwise: .network)
    }

    /// Converts an error of any step of a request.
    ///
    /// - Parameter otherwise: the code for an error of an unknown type.
    init(wrapping error: any Error, otherwise: Code) {
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
    init(_ error: HTTPClientError) {
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
