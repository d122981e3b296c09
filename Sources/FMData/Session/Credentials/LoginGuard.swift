import NIOCore

/// Remembers which credentials the server refused, so that repeated attempts do not lock the account.
///
/// FileMaker counts wrong logins and answers 214 when there were too many; a client that retries automatically gets
/// there within seconds.
struct LoginGuard {
    private struct Refusal {
        let credentials: DataAPI.Credentials
        let error: FMRest.APIError
        /// `nil`: as long as these credentials are in use.
        let until: NIODeadline?
    }

    /// Enough for a provider that cycles through a few wrong passwords; older entries are dropped.
    private static let memory = 16

    let coolDown: TimeAmount
    private var refusals: [Refusal] = []

    init(coolDown: TimeAmount) {
        self.coolDown = coolDown
    }

    /// The server's answer to these credentials; `nil` when they may be sent.
    mutating func error(for credentials: DataAPI.Credentials, now: NIODeadline) -> FMRest.APIError? {
        refusals.removeAll { refusal in refusal.until.map { $0 <= now } ?? false }
        return refusals.first { $0.credentials == credentials }?.error
    }

    /// A login with these credentials failed. Only answers about the credentials count. 952 does not: it is about a
    /// session's token and locks no account.
    mutating func loginFailed(_ credentials: DataAPI.Credentials, _ error: FMRest.APIError, now: NIODeadline) {
        guard error.meansCredentialsRefused, error.fileMakerCode?.meansSessionLost != true else { return }
        refusals.removeAll { $0.credentials == credentials }
        if refusals.count == Self.memory { refusals.removeFirst() }
        let isLockedOut = error.fileMakerCode == 214
        refusals.append(Refusal(credentials: credentials, error: error, until: isLockedOut ? now + coolDown : nil))
    }
}
