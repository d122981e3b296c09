/// What is worth knowing of a response beside its parts: for ``HTTPResponse/wireBodyBytes`` and the log.
struct ExchangeFigures: Sendable, Equatable {
    var status: UInt = 0
    /// The body as it was sent.
    var wireBodyBytes = 0
    /// The body as it was handed on.
    var bodyBytes = 0
}
