/// The name of a session in a pool. It is never used again.
struct SessionID: Hashable, Comparable, Sendable {
    let number: Int

    static func < (a: SessionID, b: SessionID) -> Bool { a.number < b.number }
}

/// The pool's logical clock. It ticks with each new token, which is named by that tick, and with each refusal.
///
/// A refusal names the refused token, so a late refusal does not affect a newer token. A request that is sent again can
/// ask for a token that was known to be good *after* the refusal.
struct TokenEpoch: Hashable, Comparable, Sendable {
    var tick: Int

    static func < (a: TokenEpoch, b: TokenEpoch) -> Bool { a.tick < b.tick }
}

/// One request for a lease: first its place in the queue, then the name of the lease.
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

/// The purpose of a lease.
enum LeasePurpose: Equatable, Sendable {
    /// Any session will do.
    case request
    /// For a request that is sent again after its token was refused: only a session known to be good since then.
    case replay
    /// For session-bound work: a session that no other process knows.
    case pinned
    /// Like `request`, but after all others that wait: a poll of a live query.
    case poll
}

/// How a lease ended, as far as its session is concerned.
enum SessionOutcome: Equatable, Sendable {
    /// The server accepted the token and answered, with success or an error. The session's idle time starts again.
    case used
    /// There was no answer: nothing was sent, or the exchange was cancelled or broke. The session stays as it was.
    case unused
    /// The server no longer knows the token.
    case refused
    /// The server knows the token, but the session no longer works (112): it is logged out.
    case broken
    /// The host is at its limit (812, 956, 1638). The session is good, but the pool should hold fewer.
    case hostFull
    /// The session holds state that other work must not see, so it ends here.
    case retired
}
