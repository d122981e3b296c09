import FMHTTP

extension HTTPClientError.Code {
    /// Whether it tells of a state that passes by itself: of the network, or of a server or proxy that is away.
    var isPassing: Bool {
        switch self {
        // A name that has no address is as often one whose resolver is away as one that is wrong.
        case .unknownHost, .connectionRefused, .connectFailed, .proxyFailure: true
        case .connectionClosed, .truncatedBody: true
        default: false
        }
    }
}
