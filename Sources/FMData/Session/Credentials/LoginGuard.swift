import NIOCore

/// Remembers which credentials the server refused, so that they are not sent until the account is locked.
///
/// FileMaker counts wrong logins and answers 214 when there were too many; a client that retries by itself gets there in
/// seconds.
struct LoginGuard {
    private struct Refusal {
        let credentials: DataAPI.Credentials
        let error: FMRest.APIError
        /// `nil`: for as long as these credentials are the ones in use.
        let until: NIODeadline?
    }

    /// A provider that turns a few wrong passwords round and round is held, too; older ones are forgotten.
    private static let memory = 16

    let coolDown: TimeAmount
    private var refusals: [Refusal] = []

    init(coolDown: TimeAmount) {
        self.coolDown = coolDown
    }

    /// What the server said to these credentials; `nil` when they may be sent.
    mutating func error(for credentials: DataAPI.Credentials, now: NIODeadline) -> FMRest.APIError? {
        refusals.removeAll { refusal in refusal.until.map { $0 <= now } ?? false }
        return refusals.first { $0.credentials == credentials }?.error
    }

    /// A login with these credentials failed. Only an answer that is about the credentials counts: not 952, which speaks of the
    /// token of a session, and which no account is locked for.
    mutating func loginFailed(_ credentials: DataAPI.Credentials, _ error: FMRest.APIError, now: NIODeadline) {
        guard error.meansCredentialsRefused, error.fileMakerCode?.meansSessionLost != true else { return }
        refusals.removeAll { $0.credentials == credentials }
        if refusals.count == Self.memory { refusals.removeFirst() }
        let isLockedOut = error.fileMakerCode == 214
        refusals.append(Refusal(credentials: credentials, error: error, until: isLockedOut ? now + coolDown : nil))
    }
}
