import FMHTTP

/// How far a body has come, and whether the rest can be asked for when its connection breaks.
struct ResumableProgress: Equatable {
    /// A host that breaks off each time is not asked for ever.
    static let maximumResumptions = 20

    /// Bytes that have arrived.
    var position = 0
    private let version: ContainerVersion?
    private var resumptions = 0
    private var lastResumption: Int?
    /// Known when the rest was announced.
    private var byteCount: Int?

    /// Of a body that cannot be gone on with.
    init() { version = nil }

    /// Of the body that follows a head.
    init(_ head: HTTPResponseHead) { version = ContainerVersion(head) }

    /// Whether all has arrived when the body ends in good order.
    var isComplete: Bool { position == byteCount ?? position }

    /// Whether it was the connection that failed, and each attempt so far has brought something.
    func mayGoOn(after error: HTTPClientError) -> Bool {
        switch error.code {
        case .connectionClosed, .truncatedBody: break
        default: return false
        }
        return version != nil && lastResumption != position && resumptions < Self.maximumResumptions
    }

    /// The headers that ask for the rest.
    mutating func goOn() -> HTTPHeaders? {
        resumptions += 1
        lastResumption = position
        return version?.headers(forRestFrom: position)
    }

    /// Whether an answer is the rest.
    mutating func isContinued(by head: HTTPResponseHead) -> Bool {
        guard let whole = version?.byteCount(ofWholeWith: head, from: position) else { return false }
        byteCount = whole
        return true
    }
}
