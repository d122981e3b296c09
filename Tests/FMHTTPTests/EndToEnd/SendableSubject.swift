import NIOCore
import OpenCombine

/// A subject that a test's server or another task may use: OpenCombine locks its `send`.
final class SendableSubject: @unchecked Sendable {
    // Sendable because PassthroughSubject guards its state with a lock of its own.
    private let subject: PassthroughSubject<ByteBuffer, any Error>

    init(_ subject: PassthroughSubject<ByteBuffer, any Error> = PassthroughSubject()) { self.subject = subject }

    var publisher: AnyPublisher<ByteBuffer, any Error> { subject.eraseToAnyPublisher() }
    func send(_ bytes: ByteBuffer) { subject.send(bytes) }
    func send(completion: Subscribers.Completion<any Error>) { subject.send(completion: completion) }
}
