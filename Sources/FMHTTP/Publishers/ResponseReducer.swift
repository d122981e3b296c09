internal import NIOCore
internal import NIOHTTP1

/// What a subscription makes of a response as it arrives: its parts one by one, or the whole at the end.
///
/// A value that belongs to one subscription and is used on the connection's event loop only.
protocol ResponseReducer: Sendable {
    associatedtype Output: Sendable

    /// How many outputs may wait for a slow subscriber before reading stops. `nil`: reading never waits for the
    /// subscriber, because it gets nothing before the end anyway.
    static var maximumBuffered: Int? { get }

    mutating func take(_ head: HTTPResponseHead, bodyLength: ResponseParser.BodyLength) -> Output?
    mutating func take(_ chunk: ByteBuffer) -> Output?
    mutating func finish(_ figures: ExchangeFigures) -> Output?
}
