import FMHTTP

extension HTTPClientError.Code {
    /// Whether it tells of a state that passes by itself: of the network, or of a server or proxy that is away.
    var isPassing: Bool {
        switch self {
        // The host may be misspelled, but as often its resolver is away for a while.
        case .unknownHost, .connectionRefused, .connectFailed, .proxyFailure: true
        case .connectionClosed, .truncatedBody: true
        default: false
        }
    }
}
