/// Figures of a response, for the limit of its rate and for the log.
struct ExchangeFigures: Sendable, Equatable {
    var status: UInt = 0
    /// The bytes of the body on the wire.
    var wireBodyBytes = 0
    /// The bytes of the body after decompression.
    var bodyBytes = 0
}
