public import NIOCore
public import OpenCombine

/// The body of a request: nothing, bytes in memory, or a stream of known length.
public struct HTTPBody: Sendable {
    enum Content: Sendable {
        case none
        case bytes(ByteBuffer)
        case stream(BodyStream)
    }

    let content: Content

    /// No body.
    public static let none = HTTPBody(content: .none)

    /// A body in memory. It can be sent again when a stale connection is replaced.
    public static func bytes(_ bytes: ByteBuffer) -> HTTPBody { HTTPBody(content: .bytes(bytes)) }

    /// A body that arrives while it is sent, from a file or a publisher.
    ///
    /// The publisher is asked for one chunk at a time, and for the next one only when the connection has taken the
    /// last: a slow server slows the publisher. It is subscribed on an event loop and must not block in
    /// `receive(subscriber:)`; it may deliver on any thread. When it publishes more or fewer bytes than `length`, the
    /// request fails with ``HTTPClientError/Code/bodyLengthMismatch``; when it fails, with
    /// ``HTTPClientError/Code/bodyFailed``. Cancelling the request cancels it.
    ///
    /// - Parameters:
    ///   - length: The exact number of bytes.
    ///   - isReplayable: Whether another call of `make` returns the same bytes again.
    ///   - make: Makes the publisher, once per attempt.
    public static func stream(
        length: Int,
        isReplayable: Bool,
        _ make: @escaping @Sendable () -> AnyPublisher<ByteBuffer, any Error>
    ) -> HTTPBody {
        HTTPBody(content: .stream(BodyStream(length: length, isReplayable: isReplayable, make: make)))
    }

    /// The number of bytes; `nil` when there is no body.
    package var length: Int? {
        switch content {
        case .none: nil
        case .bytes(let bytes): bytes.readableBytes
        case .stream(let stream): stream.length
        }
    }

    /// The bytes, on demand. A stream that is not replayable is taken away from the request by that.
    package var pieces: AnyPublisher<ByteBuffer, any Error> {
        switch content {
        case .none: Empty().eraseToAnyPublisher()
        case .bytes(let bytes): Just(bytes).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        case .stream(let stream): Deferred { stream.make() }.eraseToAnyPublisher()
        }
    }

    package var isReplayable: Bool {
        switch content {
        case .none, .bytes: true
        case .stream(let stream): stream.isReplayable
        }
    }
}

struct BodyStream: Sendable {
    let length: Int
    let isReplayable: Bool
    let make: @Sendable () -> AnyPublisher<ByteBuffer, any Error>
}
