import FMHTTP

extension FMRest.APIError {
    /// Whether the answer to a call other than a login says that the server does not know the token, so the call was
    /// not carried out: FileMaker code 952, or HTTP 401 whatever its body (FileMaker Cloud answers with a web page once
    /// a Claris ID hour is over).
    ///
    /// Source: Claris Data API guide, "Log in to a database session using a Claris ID account" and "Error codes".
    var meansTokenRefused: Bool {
        httpStatus == 401 || code != .script && fileMakerCode?.meansSessionLost == true
    }

    /// Whether the session broke on the server although its token is known: FileMaker code 112, "Window is missing", on
    /// a session that worked before. A script of the same call may have closed the window, so unlike
    /// ``meansTokenRefused`` it does not say that nothing was carried out.
    func meansSessionBroken(_ lease: SessionLease) -> Bool {
        lease.hasWorked && code != .script && fileMakerCode == 112
    }

    /// Whether a login failed because of its credentials: trying the same ones again could lock the account.
    package var meansCredentialsRefused: Bool {
        if let fileMakerCode { return [210, 211, 212, 214].contains(fileMakerCode.rawValue) || httpStatus == 401 }
        return httpStatus == 401 || code == .unauthorized
    }

    /// Whether the failure of a login or a logout says nothing about the next attempt: the connection broke, or the web
    /// server waits for its Data API. False for a refused connection and for an expired time limit, which are reported
    /// at once.
    var isPassingForSession: Bool {
        guard isRetryable, fileMakerCode == nil else { return false }
        if code == .notDataAPI { return true }
        return code == .network && transportError.map { $0.outcome != .notSent } == true
    }

    /// Whether the host has reached its limit of sessions.
    var meansHostFull: Bool {
        fileMakerCode?.meansHostFull == true
    }

    /// Whether FileMaker itself answered and thereby accepted the token. A gateway's 502, for example, proves nothing.
    var provesToken: Bool {
        if meansTokenRefused { return false }
        return fileMakerCode != nil || httpStatus.map { (200..<300).contains($0) } == true
    }

    /// The error of a request that cannot be sent a second time. A refused token means that the request was not carried
    /// out, so the caller has to make it again; all other errors stay as they are.
    var ofWorkThatCannotBeReplayed: FMRest.APIError {
        guard meansTokenRefused else { return self }
        return FMRest.APIError(
            .sessionLost,
            reason: "The session had ended, and the bytes of the upload cannot be produced a second time.",
            hint: "Nothing was stored. Upload it again, or make the file with isReplayable: true.",
            fileMakerCode: fileMakerCode,
            messages: messages,
            httpStatus: httpStatus,
            contentType: contentType,
            request: request,
            underlying: self
        )
    }
}

extension FMRest.APIError {
    /// The error of a call that was made with a key. FileMaker's code is left out: what a proxy means by it is its own
    /// affair, and 401 would be taken for a find without a match.
    ///
    /// - Parameter root: the path of the API on the host.
    func ofRefusedKey(below root: String) -> FMRest.APIError {
        guard meansTokenRefused else { return self }
        return FMRest.APIError(
            .unauthorized,
            reason: "The server refused the key, so the call was not carried out.",
            hint: root.hasPrefix("/otto/")
                ? "It may have been deleted, or be for other databases than this one."
                : "OttoFMS takes its keys below /otto: set config.rootPath to \"/otto/fmi/data\".",
            messages: messages,
            httpStatus: httpStatus,
            contentType: contentType,
            request: request,
            underlying: self
        )
    }

    /// What needs a session was asked of a database with a key.
    static func keyOpensNoSession(_ what: String) -> FMRest.APIError {
        FMRest.APIError(
            .invalidRequest,
            reason: "\(what) a session, and a key opens none: each call may be carried out in another one.",
            hint: "Nothing was sent. Log in with an account for this work, or pass the values to a script as its "
                + "parameter."
        )
    }
}

extension SessionLease {
    /// The error of work that is pinned to this session. A refused token or a broken session becomes `sessionLost`: the
    /// session has ended, and its global fields are lost.
    func lostSession(_ error: FMRest.APIError) -> FMRest.APIError {
        guard error.code != .sessionLost, error.meansTokenRefused || error.meansSessionBroken(self) else {
            return error
        }
        return FMRest.APIError(
            .sessionLost,
            reason: "The pinned session ended on the server, and its global fields with it.",
            hint: "The work has to start over, with its globals.",
            fileMakerCode: error.fileMakerCode,
            messages: error.messages,
            httpStatus: error.httpStatus,
            contentType: error.contentType,
            request: error.request,
            underlying: error
        )
    }
}

// MARK: - Errors of requests for a session

extension FMRest.APIError {
    static let loginWithoutToken = FMRest.APIError(.notDataAPI, reason: "The login ended without a token.")

    /// The error of a failed login, for the requests that waited for it.
    var ofLoginThatOthersAwaited: FMRest.APIError {
        if [.unauthorized, .tokenStore, .sessionBudget].contains(code) || meansCredentialsRefused { return self }
        var error = self
        error.hint = ["Nothing of the call was sent: it waited for a login.", hint].compactMap { $0 }.joined(
            separator: " "
        )
        return error
    }

    static let tokensRefused = FMRest.APIError(
        .tokensRefused,
        reason: "The server refuses the tokens that it has just given.",
        hint:
            "The call was not carried out, and there will be no login for some time. Behind a load balancer the requests "
            + "of a client have to reach one and the same machine (sticky sessions)."
    )

    /// `tokensRefused` for a call that was sent with a fresh token after another token had been refused.
    var ofFreshToken: FMRest.APIError {
        var error = FMRest.APIError.tokensRefused
        error.messages = messages
        error.httpStatus = httpStatus
        error.contentType = contentType
        error.request = request
        error.underlying = self
        return error
    }

    static let logOutTimedOut = FMRest.APIError(
        .timeout,
        reason: "The server did not answer the logout within sessions.logOutDeadline.",
        hint: "It ends the session by itself after 15 minutes without a request."
    )

    static func tokenStore(_ error: any Error) -> FMRest.APIError {
        // A custom store may put anything into its error, tokens included, so only the error's type is shown.
        let reason = (error as? TokenFileError)?.description ?? "The token store failed: \(type(of: error))."
        return FMRest.APIError(
            .tokenStore,
            reason: reason,
            hint: "With onFailure: .logIn a store that fails costs logins instead of calls.",
            underlying: error
        )
    }

    static func sessionBudget(_ error: any Error) -> FMRest.APIError {
        // As with a store, only the error's type is shown.
        FMRest.APIError(
            .sessionBudget,
            reason: "The budget of sessions failed: \(type(of: error)).",
            underlying: error
        )
    }

    /// Another member of the budget was refused with the same credentials.
    static func credentialsRefusedElsewhere(_ refusal: DataAPI.SessionBudget.CredentialsRefused) -> FMRest.APIError {
        FMRest.APIError(
            .unauthorized,
            reason: "The server has refused these credentials a short time ago, as another member of the same budget "
                + "used them.",
            hint: "They were not sent again, since repeated attempts lock the account.",
            fileMakerCode: refusal.code
        )
    }

    static let sessionsShutDown = FMRest.APIError(.shutdown, reason: "The database's sessions were shut down.")

    static let onlySessionHoldsGlobals = FMRest.APIError(
        .invalidRequest,
        reason: "withSession needs a session of its own, and the one that maximumSessions allows holds the global "
            + "fields that were set outside of it.",
        hint: "Nothing was sent. Set the globals within withSession, or allow the database more sessions "
            + "(maximumSessions)."
    )

    static func sessionQueueIsFull(_ count: Int) -> FMRest.APIError {
        FMRest.APIError(
            .timeout,
            reason: "\(count) requests already wait for a session of this database.",
            hint: "More sessions (maximumSessions), a longer queue (maximumWaiting), or fewer requests at once."
        )
    }

    /// The request waited longer than the pool allows (`waitingDeadline`).
    ///
    /// - Parameter lastLogin: why the last login failed; `nil` if none has failed.
    static func noSessionInTime(
        _ configuration: DataAPI.SessionConfiguration,
        _ status: DataAPI.SessionStatus,
        isWaitingForSlot: Bool,
        lastLogin: FMRest.APIError?
    ) -> FMRest.APIError {
        let limit = "the limit was sessions.waitingDeadline, \(configuration.waitingDeadline): \(status)."
        if isWaitingForSlot {
            return FMRest.APIError(
                .timeout,
                reason: "\(waitForSlot); \(limit)",
                hint: "Nothing of the call was sent. Allow the budget more slots, or a longer waitingDeadline."
            )
        }
        if status.waitsForFirstLogin {
            return FMRest.APIError(
                .timeout,
                reason: "\(loginWithoutAnswer); \(limit)",
                hint: "Nothing of the call was sent. \(hintAtSilence)"
            )
        }
        if status.sessions == 0, let lastLogin {
            return FMRest.APIError(
                .timeout,
                reason: "The call waited for a login that succeeds; \(limit) The last one failed: \(lastLogin.reason)",
                hint: lastLogin.hint,
                underlying: lastLogin
            )
        }
        return FMRest.APIError(
            .timeout,
            reason: "\(waitForSession); \(limit)",
            hint: status.limit < configuration.maximumSessions
                ? "The host lets this database have no more than \(status.limit) at the moment: close idle sessions in the "
                    + "Admin Console, or allow a longer waitingDeadline."
                : "More sessions (maximumSessions) or a longer waitingDeadline; inside withSession, requests that do "
                    + "not go through the pinned session wait for another one."
        )
    }

    /// The call's own time limit expired while it waited for a session, so nothing was sent.
    ///
    /// - Parameter lastLogin: the error of the last login if the host is full; else `nil`.
    static func noSessionForCall(
        within total: Duration,
        _ status: DataAPI.SessionStatus,
        isWaitingForSlot: Bool,
        lastLogin: FMRest.APIError?
    ) -> FMRest.APIError {
        let host = lastLogin?.fileMakerCode.map { " The host is full (\($0.summary))." } ?? ""
        let isUnanswered = lastLogin == nil && status.waitsForFirstLogin && !isWaitingForSlot
        let remedy =
            if lastLogin != nil {
                "Close idle sessions in the Admin Console, or allow the call more time."
            } else if isUnanswered {
                "Allow it more time. \(hintAtSilence)"
            } else if isWaitingForSlot {
                "Allow the call more time, or the budget more slots."
            } else {
                "Allow the call more time, or the database more sessions (maximumSessions)."
            }
        return FMRest.APIError(
            .timeout,
            reason: "\(isUnanswered ? loginWithoutAnswer : isWaitingForSlot ? waitForSlot : waitForSession); "
                + "the limit was timeouts.total, \(total): \(status).\(host)",
            hint: "Nothing \(isUnanswered ? "of the call " : "")was sent. \(remedy)",
            underlying: lastLogin
        )
    }

    private static let waitForSession = "The call waited for a session"
    private static let waitForSlot = "The call waited for a slot of the budget, and all of them were in use elsewhere"
    private static let loginWithoutAnswer = "The call waited for its login, which the server has not answered"

    private static let hintAtSilence =
        "If no login is answered, another service listens on this port, or the server has stopped working: one that accepts "
        + "connections and says nothing looks like this."

    /// The host's answer to the last login, for requests that waited until the limit for a full host.
    func afterWaitingForFullHost(
        _ configuration: DataAPI.SessionConfiguration,
        _ status: DataAPI.SessionStatus
    ) -> FMRest.APIError {
        var error = self
        error.reason =
            "The host is at its limit of sessions and opened none for this database within "
            + "\(min(configuration.fullHostDeadline, configuration.waitingDeadline)) "
            + "(\(status.failedLogins) logins failed): \(fileMakerCode?.summary ?? reason). This client holds "
            + "\(status.sessions) sessions of it, and would open up to \(configuration.maximumSessions)."
        error.hint =
            "Close idle sessions in the Admin Console, or raise its limit; lower maximumSessions of the programs that share "
            + "the host, and log out what is done. fullHostDeadline and waitingDeadline say how long to wait."
        return error
    }
}

extension DataAPI.SessionStatus {
    /// Whether a call waits only for the answer to a login: a higher limit would not bring more sessions.
    fileprivate var waitsForFirstLogin: Bool { sessions == 0 && loggingIn > 0 }
}

extension SessionPoolStateMachine.LoginFailure {
    init(_ error: FMRest.APIError) {
        self =
            if error.meansHostFull {
                .hostFull
            } else if error.meansCredentialsRefused {
                .credentialsRefused
            } else {
                error.isPassingForSession ? .passing : .other
            }
    }
}
