import Foundation

/// Keeps the decoding contexts of one server or decoder between answers.
///
/// A context remembers the keys that it has decoded and where its types found them, and its memory has the right size.
/// Answers of one record gain most: learning all that anew takes as long as decoding them.
final class DecodingContexts: Sendable {
    /// The number of contexts worth keeping, and the largest memory worth keeping, in bytes.
    private static let maximumCount = 16
    private static let maximumCapacity = 256 * 1024

    let options: DecodingOptions
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let recordDecoder: JSONDecoder?
    /// A context that is given back has no other reference, and a context that is taken has one owner.
    private let spares = Guarded<[DecodingContext]>([])

    /// - Parameter recordDecoder: the user's own decoder for records.
    init(
        options: DecodingOptions,
        userInfo: [CodingUserInfoKey: any Sendable] = [:],
        recordDecoder: JSONDecoder? = nil
    ) {
        self.options = options
        self.userInfo = userInfo
        self.recordDecoder = recordDecoder
    }

    /// The number of unused contexts, for tests.
    var spareCount: Int { spares.withLock { $0.count } }

    func take() -> DecodingContext {
        spares.withLock { $0.popLast() }
            ?? DecodingContext(options: options, userInfo: userInfo, recordDecoder: recordDecoder)
    }

    /// Keeps a context after a whole answer, unless a decoder or container still refers to it.
    func give(_ context: consuming DecodingContext) {
        var context = context
        guard isKnownUniquelyReferenced(&context), context.document.capacity <= Self.maximumCapacity else { return }
        context.end()
        context.restart()
        // A context that is not kept is destroyed outside of the lock.
        spares.withLock { spares in
            if spares.count < Self.maximumCount { spares.append(context) }
        }
    }
}
