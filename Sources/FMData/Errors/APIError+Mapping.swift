import FMHTTP

extension FMRest.APIError {
    /// Whatever a step of a request threw, as the one error type.
    init(wrapping error: any Error) {
        self.init(wrapping: error, otherwise: .network)
    }

    /// Whatever a step of a request threw, as the one error type.
    ///
    /// - Parameter otherwise: what an error of an unknown type amounts to.
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
        case let error as DataAPI.FindError:
            self.init(.invalidRequest, reason: "\(error)", underlying: error)
        case let error as DataAPI.ContainerError:
            self.init(error)
        case let error as FMRest.ContainerFileError:
            self.init(.invalidRequest, reason: "\(error)", underlying: error)
        default:
            self.init(otherwise, reason: "\(type(of: error))", underlying: error)
        }
    }

    /// A value that could not be made.
    private init(_ failure: DecodingFailure, underlying: any Error) {
        self.init(.decoding, reason: failure.summary, hint: failure.hint, underlying: underlying)
        fields = failure.fieldsOrPortals
    }

    /// An error of the HTTP client.
    init(_ error: HTTPClientError) {
        let code: Code
        switch error.code {
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .queueTimeout: code = .timeout
        case .tlsFailure, .plainHTTPServer, .tlsServer, .certificateUntrusted, .certificateExpired,
            .certificateNotYetValid, .certificateNameMismatch, .certificateInvalid, .certificatePinMismatch,
            .invalidTLSOptions:
            code = .tls
        case .responseTooLarge, .headTooLarge: code = .responseTooLarge
        case .insecureScheme, .invalidRequest, .bodyFailed, .bodyLengthMismatch: code = .invalidRequest
        case .shutdown: code = .shutdown
        default: code = .network
        }
        self.init(
            code,
            reason: "\(error)",
            hint: error.hint,
            outcomeIsUnknown: error.outcome == .unknown,
            underlying: error
        )
    }

    /// The error with the request it belongs to, unless it has one.
    func about(_ request: RequestSummary, isSafeToRepeat: Bool) -> Self {
        var error = self
        error.request = error.request ?? request
        if isSafeToRepeat {
            // A read that may have arrived has changed nothing: it can be sent again.
            error.outcomeIsUnknown = false
        } else if code == .decoding || code == .notDataAPI, httpStatus != 401 {
            // An answer came, but not one that says what FileMaker did: a gateway's page, a body that cannot be read.
            error.outcomeIsUnknown = true
        }
        return error
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
    /// `data[3].fieldData.Qty`, or "the top".
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
