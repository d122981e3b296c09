/// What is worth knowing of a response beside its parts: for the limit of its rate, and for the log.
struct ExchangeFigures: Sendable, Equatable {
    var status: UInt = 0
    /// The body as it was sent.
    var wireBodyBytes = 0
    /// The body as it was handed on.
    var bodyBytes = 0
}
