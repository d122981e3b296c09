// Exported under this name only: other HTTP clients have an error of the same name. Its members are visible through the
// types that `Config` exports.
public import FMHTTP

extension DataAPI {
    /// The reason why a request has no complete answer, in terms of HTTP. It is the ``FMRest/APIError/underlying``
    /// error of an ``FMRest/APIError`` whose code is ``FMRest/APIError/Code/network``, ``FMRest/APIError/Code/tls``,
    /// ``FMRest/APIError/Code/timeout`` or ``FMRest/APIError/Code/responseTooLarge``.
    ///
    ///     if error.transportError?.code == .connectionRefused { … }
    ///
    /// Its `code` names the cause: `unknownHost`, `connectionRefused`, `connectTimeout`, `certificateExpired`,
    /// `connectionClosed` and others. Its `outcome` says whether the server may have acted on the request. Its `origin`
    /// is the host that the request was for; for the content of a container that may be another host than the server
    /// object's. It holds no header, query or byte of a body.
    public typealias TransportError = HTTPClientError
}

extension FMRest.APIError {
    /// The transport error, when the request has no complete answer: no connection, a certificate, a time limit of the
    /// exchange.
    public var transportError: DataAPI.TransportError? { underlying as? HTTPClientError }
}
