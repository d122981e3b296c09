import Foundation

/// The decoding contexts of one server or decoder, between two answers.
///
/// A context knows the keys of what it has decoded and where its types found them, and it has memory of the right size. An
/// answer of one record gains most: to learn all that anew takes as long as its decoding.
final class DecodingContexts: @unchecked Sendable {
    // Sendable because `spares` is touched under the lock only, nobody else refers to a context that is given back, and whoever
    // takes it takes it alone.

    /// As many as are worth keeping, and memory that is worth keeping, in bytes.
    private static let maximumCount = 16
    private static let maximumCapacity = 256 * 1024

    let options: DecodingOptions
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let recordDecoder: JSONDecoder?
    private let lock = NSLock()
    private var spares: [DecodingContext] = []

    /// - Parameter recordDecoder: the user's own, for records.
    init(
        options: DecodingOptions,
        userInfo: [CodingUserInfoKey: any Sendable] = [:],
        recordDecoder: JSONDecoder? = nil
    ) {
        self.options = options
        self.userInfo = userInfo
        self.recordDecoder = recordDecoder
    }

    /// How many wait for the next answer: for tests.
    var spareCount: Int { lock.withLock { spares.count } }

    func take() -> DecodingContext {
        lock.withLock { spares.popLast() }
            ?? DecodingContext(options: options, userInfo: userInfo, recordDecoder: recordDecoder)
    }

    /// Keeps a context after a whole answer, unless somebody holds it, one of its decoders or of its containers.
    func give(_ context: consuming DecodingContext) {
        var context = context
        guard isKnownUniquelyReferenced(&context), context.document.capacity <= Self.maximumCapacity else { return }
        context.end()
        context.restart()
        // The superfluous one is destroyed outside of the lock.
        lock.withLock {
            if spares.count < Self.maximumCount { spares.append(context) }
        }
    }
}
