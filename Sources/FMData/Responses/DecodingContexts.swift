import NIOConcurrencyHelpers

/// The decoding contexts of one server, between two answers.
///
/// A context knows the keys of what it has decoded and where its types found them, and it has memory of the right size. An
/// answer of one record gains most: to learn all that anew takes as long as its decoding.
final class DecodingContexts: Sendable {
    /// As many as are worth keeping, and memory that is worth keeping, in bytes.
    private static let maximumCount = 16
    private static let maximumCapacity = 256 * 1024

    private struct Spare: @unchecked Sendable {
        // Sendable because nobody else refers to a context that is given back, and whoever takes it takes it alone.
        let context: DecodingContext
    }

    private let options: DecodingOptions
    private let spares = NIOLockedValueBox<[Spare]>([])

    init(options: DecodingOptions) { self.options = options }

    func take() -> DecodingContext {
        spares.withLockedValue { $0.popLast() }?.context
            ?? DecodingContext(document: JSONDocument(limits: options.limits), options: options, userInfo: [:])
    }

    /// - Parameter context: One whose decoders and containers nobody holds, after a whole answer.
    func give(_ context: DecodingContext) {
        guard context.document.capacity <= Self.maximumCapacity, !context.document.keyMemory.isWornOut else { return }
        context.restart()
        // The superfluous one is destroyed outside of the lock.
        spares.withLockedValue { spares in
            if spares.count < Self.maximumCount { spares.append(Spare(context: context)) }
        }
    }
}
