import FMHTTP

extension HTTPClientError.Code {
    /// Whether the error is transient: caused by a state of the network, or by a server or proxy that does not answer.
    var isPassing: Bool {
        switch self {
        // The host's name may be misspelled, but often its resolver is just not available.
        case .unknownHost, .connectionRefused, .connectFailed, .proxyFailure: true
        case .connectionClosed, .truncatedBody: true
        default: false
        }
    }
}
