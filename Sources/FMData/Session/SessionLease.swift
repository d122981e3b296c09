/// One place for a session in a pool. It is never given twice.
struct SessionID: Hashable, Comparable, Sendable {
    let number: Int

    static func < (a: SessionID, b: SessionID) -> Bool { a.number < b.number }
}

/// The pool's logical clock. It ticks with each new token, which is named by that tick, and with each refusal.
///
/// A refusal names the token it was met with, so one that comes late cannot hurt a newer token; and a request that is
/// sent again can ask for a token that was known to be good *after* the refusal.
struct TokenEpoch: Hashable, Comparable, Sendable {
    var tick: Int

    static func < (a: TokenEpoch, b: TokenEpoch) -> Bool { a.tick < b.tick }
}

/// One wish for a session: first a place in the queue, then the name of the lease.
struct LeaseID: Hashable, Comparable, Sendable {
    let number: Int

    static func < (a: LeaseID, b: LeaseID) -> Bool { a.number < b.number }
}

/// The right to use one session until it is released.
struct SessionLease: Sendable {
    let id: LeaseID
    let session: SessionID
    let epoch: TokenEpoch
    let token: SessionToken
    /// Whether the server has accepted this token before: FileMaker code 112 then means that the session broke.
    let hasWorked: Bool
}

/// What a lease asks for.
enum LeasePurpose: Equatable, Sendable {
    /// Any session will do.
    case request
    /// A request is sent again after its token was refused: only a session that is known to be good since then.
    case replay
    /// Session-bound work: a session that no other process knows.
    case pinned
    /// As a request, but after all others that wait: a look of a live query, which nobody asked for.
    case look
}

/// How a lease ended, as far as its session is concerned.
enum SessionOutcome: Equatable, Sendable {
    /// The server took the token and answered, well or not. The session's idle time starts anew.
    case used
    /// No answer: nothing was sent, or the exchange was cancelled or broke. The session stays as it was.
    case unused
    /// The server does not know the token any more.
    case refused
    /// The server knows the token, but the session behind it does not work any more (112): it is logged out.
    case broken
    /// The server is at its limit (812, 956, 1638). The session is good, but there should be fewer.
    case hostFull
    /// The session holds state that nobody else may see, and ends here.
    case retired
}
