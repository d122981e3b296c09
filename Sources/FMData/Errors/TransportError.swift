// Under this name alone: other HTTP clients have an error that is called the same. Its members are visible through the types that
// `Config` exports.
public import FMHTTP

extension DataAPI {
    /// Why a request has no complete answer, in the words of HTTP: the ``FMRest/APIError/underlying`` error of an
    /// ``FMRest/APIError`` whose code is ``FMRest/APIError/Code/network``, ``FMRest/APIError/Code/tls``,
    /// ``FMRest/APIError/Code/timeout`` or ``FMRest/APIError/Code/responseTooLarge``.
    ///
    ///     if error.transportError?.code == .connectionRefused { … }
    ///
    /// Its `code` tells the causes apart: `unknownHost`, `connectionRefused`, `connectTimeout`, `certificateExpired`,
    /// `connectionClosed` and others; its `outcome` says whether the server may have acted on the request; its `origin` is the host
    /// that was asked, which for the content of a container may be another one than that of the server object. It holds no header,
    /// query or byte of a body.
    public typealias TransportError = HTTPClientError
}

extension FMRest.APIError {
    /// Why the request has no complete answer, when that is what happened: no connection, a certificate, a time limit of the
    /// exchange.
    public var transportError: DataAPI.TransportError? { underlying as? HTTPClientError }
}
