import FMHTTP

/// How much of a body has arrived, and whether the rest can be requested if its connection breaks.
struct ResumableProgress: Equatable {
    /// Limits the requests to a host that breaks the connection each time.
    static let maximumResumptions = 20

    /// The number of bytes that have arrived.
    var position = 0
    private let version: ContainerVersion?
    private var resumptions = 0
    private var lastResumption: Int?
    /// The length of the whole, known once the rest was announced.
    private var byteCount: Int?

    /// The progress of a body that cannot be resumed.
    init() { version = nil }

    /// The progress of the body that follows this head.
    init(_ head: HTTPResponseHead) { version = ContainerVersion(head) }

    /// Whether everything has arrived when the body ends regularly.
    var isComplete: Bool { position == byteCount ?? position }

    /// Whether the connection was the cause, and each attempt so far has brought some bytes.
    func mayGoOn(after error: any Error) -> Bool {
        switch (error as? HTTPClientError ?? (error as? FMRest.APIError)?.transportError)?.code {
        case .connectionClosed, .truncatedBody: break
        default: return false
        }
        return version != nil && lastResumption != position && resumptions < Self.maximumResumptions
    }

    /// Counts one more attempt and returns the headers that request the rest.
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
