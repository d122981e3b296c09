import FMHTTP

extension FMRest {
    // <!-- swift
    // let contacts = database.addLayout("Contacts")
    // -->

    /// The only failure type of the publishers in this library.
    ///
    /// It answers three questions: what failed (``code``, and FileMaker's own ``fileMakerCode`` where there is one),
    /// where (``request``, ``httpStatus``), and whether trying again makes sense (``isRetryable``). Its description
    /// holds no password, token or field value, so it can be logged or put in a ticket.
    ///
    /// ```swift
    /// contacts.deleteRecord(recordId: 999_999)
    ///     .map { _ in "deleted" }
    ///     .tryCatch { error in
    ///         guard error.fileMakerCode == .recordMissing else { throw error }
    ///         return Just("was gone before")
    ///     }
    ///     .sink(receiveCompletion: { _ in }, receiveValue: { print($0) })     // was gone before
    ///     .store(in: &subscriptions)
    /// ```
    public struct APIError: FileMakerCodedError, Sendable {
        /// The kind of failure.
        public var code: Code
        /// FileMaker's error code, when the server's answer had one other than 0, or when a script ended with one that
        /// the caller chose to treat as a failure.
        public var fileMakerCode: FileMakerErrorCode?
        /// Every message of the server's answer, in order. The first one decided ``fileMakerCode``.
        public var messages: [DataAPI.Message]
        /// The HTTP status of the server's answer; `nil` when there was none.
        public var httpStatus: Int?
        /// The media type of the server's answer.
        public var contentType: String?
        /// The request, without secrets and values.
        public var request: RequestSummary?
        /// What happened, in a sentence.
        public var reason: String
        /// What to check or change, where the library knows.
        public var hint: String?
        /// The fields that the error is about, as far as a comparison of the request with the layout shows: for 102
        /// those that are not on the layout, for 509 those that lack a value, for 201 and 500 to 513 those that the
        /// code can be about, when they are few. For ``Code/decoding`` the field, or else the portal, that could not be
        /// read or is missing. Empty when they are not known.
        public var fields: [String] = []
        /// The portals that a 102 is about, as far as a comparison of the request with the layout shows. Empty when
        /// they are not known.
        public var portals: [String] = []
        /// The layouts that a 105 is about: those of the request that the account does not see. Empty when that was not
        /// looked up; see ``DataAPI/Config/explainsErrors``.
        public var layouts: [String] = []
        /// The scripts that a 104 is about: those of the request that the account does not see. Empty when that was not
        /// looked up.
        public var scripts: [String] = []
        /// The script that failed, when ``code`` is ``Code/script``.
        public var scriptFailure: DataAPI.ScriptFailure?
        /// Whether the server may have carried out the request although no (valid) answer came. Check such a write
        /// before you send it again; the library itself never sends it twice.
        public var outcomeIsUnknown: Bool
        /// How long the server, or a proxy in front of it, asks to wait before the next attempt: the `Retry-After`
        /// header of its answer, which comes with HTTP 429 and 503. `nil` without that header.
        /// ``DataAPI/Calling/retrying(_:)`` waits that long.
        public var retryAfter: Duration?
        /// The error of a lower layer: a ``DataAPI/TransportError`` (``transportError``), a ``DecodingFailure``, an
        /// ``EncodingFailure`` or `EncodingError`, a ``DataAPI/FindError``, a ``DataAPI/ContainerError``
        /// (``containerError``), a ``FMRest/ContainerFileError``, a ``DataAPI/SaveConflict`` (``saveConflict``), a
        /// ``DataAPI/WriteJournalError``, another ``FMRest/APIError`` that led to this one, or an error of your own
        /// code: of a token store, a provider of credentials, a coder. The error of
        /// ``DataAPI/TokenStore/file(at:onFailure:)`` has no public type; ``reason`` says everything that it knows.
        public var underlying: (any Error)?
        /// What a higher layer knows of the failed work, such as the totals of a batch.
        package var detail: (any Sendable)?
        /// Whether the failed login may have opened a session of which nobody knows the token.
        var mayHaveOpenedSession = false

        /// Creates an error, for tests and doubles; see the properties for its parts.
        public init(
            _ code: Code,
            reason: String,
            hint: String? = nil,
            fileMakerCode: FileMakerErrorCode? = nil,
            messages: [DataAPI.Message] = [],
            httpStatus: Int? = nil,
            contentType: String? = nil,
            request: RequestSummary? = nil,
            outcomeIsUnknown: Bool = false,
            underlying: (any Error)? = nil
        ) {
            self.code = code
            self.reason = reason
            self.hint = hint
            self.fileMakerCode = fileMakerCode
            self.messages = messages
            self.httpStatus = httpStatus
            self.contentType = contentType
            self.request = request
            self.outcomeIsUnknown = outcomeIsUnknown
            self.underlying = underlying
        }
    }
}

extension FMRest.APIError {
    /// The kind of failure. New kinds may be added: a `switch` over them needs a `default`.
    ///
    /// A `catch` matches it:
    ///
    ///     do { … } catch FMRest.APIError.Code.timeout { … }
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String
        /// The number of the kind in an `NSError`: -100 or less, apart from FileMaker's own codes, and the same in all
        /// versions.
        public let number: Int

        private init(_ description: String, _ number: Int) {
            self.description = description
            self.number = number
        }

        /// FileMaker answered with an error code; see `fileMakerCode`.
        public static let fileMaker = Code("fileMaker", -100)
        /// The login was refused, or there are no credentials that a login could use.
        public static let unauthorized = Code("unauthorized", -101)
        /// A session that the work depended on was lost, with its global fields; the work has to start again.
        public static let sessionLost = Code("sessionLost", -102)
        /// The database became another account's while the call was under way
        /// (``DataAPI/Database/replaceCredentials(_:dataSources:)``), so its answer is not delivered. A write that was
        /// already sent has ``outcomeIsUnknown``; a call that was not sent does not.
        public static let credentialsReplaced = Code("credentialsReplaced", -121)
        /// The server refuses the tokens of sessions that it has just opened, so nothing was carried out; usually
        /// requests reach other machines than logins do. No login is tried for some time, which grows with each
        /// refusal.
        public static let tokensRefused = Code("tokensRefused", -103)
        /// A token could not be read from the token store, or not be saved there; see
        /// ``DataAPI/TokenStore/FailurePolicy``. Nothing was sent.
        public static let tokenStore = Code("tokenStore", -104)
        /// No slot for a session could be taken from the budget; see ``DataAPI/SessionBudget``. Nothing was sent.
        public static let sessionBudget = Code("sessionBudget", -126)
        /// The answer is not one of a Data API: a web page, an empty body, another service.
        public static let notDataAPI = Code("notDataAPI", -105)
        /// The answer is JSON, but not of the expected shape, or a value did not fit the expected type.
        public static let decoding = Code("decoding", -106)
        /// The request could not be encoded: one of its values failed.
        public static let encoding = Code("encoding", -107)
        /// The request cannot be sent in this form: a text that is no host, a header with a line break, plain HTTP to
        /// another machine, a body or a URL that the server refuses as too large (HTTP 413, 414). It was not carried
        /// out.
        public static let invalidRequest = Code("invalidRequest", -108)
        /// No connection could be made, or one broke; ``transportError`` says which.
        public static let network = Code("network", -109)
        /// TLS failed: a certificate that does not verify, a key that is not pinned, no common version, a certificate
        /// file of the configuration that cannot be read, HTTPS to a port for plain HTTP or the reverse. The reason
        /// says which; it contains the certificate's names, dates or pin where these are at fault.
        public static let tls = Code("tls", -110)
        /// A time limit passed: for connecting, for the first byte, for silence, for the whole call, or for waiting for
        /// a session.
        public static let timeout = Code("timeout", -111)
        /// Records have moved so far between two pages that the next page would leave a gap; see
        /// ``DataAPI/Paging/offset``.
        public static let pagesDrifted = Code("pagesDrifted", -112)
        /// The answer is larger than the configuration allows.
        public static let responseTooLarge = Code("responseTooLarge", -113)
        /// The content of a container is not available; ``containerError`` says why.
        public static let container = Code("container", -114)
        /// The record to be saved was changed elsewhere in a way that the caller has to resolve; ``saveConflict`` has
        /// the fields with all their versions.
        public static let conflict = Code("conflict", -115)
        /// The journal of some writes cannot be used; `underlying` is a ``DataAPI/WriteJournalError``. Nothing was
        /// sent.
        public static let journal = Code("journal", -122)
        /// The ``DataAPI/CopyKeeper`` of a copy of records failed, so the copy's state is not available; `underlying`
        /// is the keeper's error. Nothing was sent.
        public static let keeper = Code("keeper", -125)
        /// A find found another number of records than the write to all of them expected; see
        /// ``DataAPI/ExpectedCount``. Nothing was written.
        public static let countDiffers = Code("countDiffers", -123)
        /// Values of a write break the rules for their fields; ``invalidValues`` has all of them. Nothing was sent. See
        /// ``DataAPI/TypedLayout/validating(_:)``.
        public static let invalidValues = Code("invalidValues", -124)
        /// A correct write was undone together with another write of the same transaction; `underlying` is the error of
        /// that one.
        public static let rolledBack = Code("rolledBack", -116)
        /// A script ended with a code that the caller chose to treat as a failure.
        public static let script = Code("script", -117)
        /// The server object was shut down.
        public static let shutdown = Code("shutdown", -118)
        /// The task that waited for a value was cancelled; ``OpenCombine/Publisher/firstValue(isolation:)`` throws
        /// `CancellationError` instead.
        public static let cancelled = Code("cancelled", -119)
        /// A publisher that promises a value finished without one.
        public static let noValue = Code("noValue", -120)

        static let all: [Code] = [
            .fileMaker, .unauthorized, .sessionLost, .credentialsReplaced, .tokensRefused,
            .tokenStore, .sessionBudget, .notDataAPI, .decoding, .encoding, .invalidRequest, .network, .tls,
            .timeout, .pagesDrifted, .responseTooLarge, .container, .conflict, .journal,
            .keeper, .countDiffers, .invalidValues, .rolledBack, .script, .shutdown, .cancelled, .noValue,
        ]

        /// The kind with this name, as it was stored. A kind that only a later version knows gets -199, no other kind's
        /// number.
        package init(named name: String) { self = Self.all.first { $0.description == name } ?? Code(name, -199) }
    }

    /// The first message's text, as FileMaker sent it.
    public var message: String? { messages.first?.message }

    /// Whether the same request may succeed later without any change: after a record lock by another user, a full host,
    /// a gateway without its engine (HTTP 502, 503, 504), a gateway at its limit (429), a connection that could not be
    /// made or broke, a time limit, a session token that was refused twice. `false` when the server may already have
    /// carried out the request, when a script failed, since it is unknown how far it came, and for everything that
    /// would fail the same way again: an answer that is not HTTP, a proxy that requires a password.
    public var isRetryable: Bool {
        if outcomeIsUnknown || code == .script { return false }
        if let fileMakerCode {
            // A token that was refused in the second session, too, is the same as `tokensRefused`.
            return fileMakerCode.isRetryable || code == .fileMaker && fileMakerCode.meansSessionLost
        }
        switch code {
        case .timeout, .tokensRefused: return true
        case .network: return underlying.map { ($0 as? HTTPClientError)?.code.isPassing == true } ?? true
        case .notDataAPI, .container: return httpStatus.map { [429, 502, 503, 504].contains($0) } ?? false
        default: return false
        }
    }
}

/// Matches an error by its kind in `catch` and `switch`.
public func ~= (code: FMRest.APIError.Code, error: any Error) -> Bool {
    (error as? FMRest.APIError)?.code == code
}
