import OpenCombine

extension Publisher where Failure == AttemptFailure {
    /// Makes a second attempt, in another session, if the server refused the first attempt's session before a value was
    /// published. The completion is then that of the second attempt. Any other failure of the first attempt is passed
    /// on.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the attempt may be repeated even if the server may have carried it out. If so, a
    ///     session that was found broken counts as refused as well.
    ///   - isReplayable: whether the attempt can be made a second time at all.
    ///   - second: makes the second attempt, given the failure of the first.
    func renewOnce<Second: Publisher>(
        isRepeatable: Bool,
        isReplayable: Bool,
        with second: @escaping (AttemptFailure) -> Second
    ) -> AfterFailurePublisher<Self, AnyPublisher<Output, FMRest.APIError>>
    where Second.Output == Output, Second.Failure == AttemptFailure {
        afterFailure { failure, hasPublished in
            guard failure.callsForAnotherSession(isRepeatable: isRepeatable), !hasPublished else {
                return Fail(error: failure.error).eraseToAnyPublisher()
            }
            guard isReplayable else {
                return Fail(error: failure.error.ofWorkThatCannotBeReplayed).eraseToAnyPublisher()
            }
            return second(failure).mapError(\.errorOfSecond).eraseToAnyPublisher()
        }
    }
}

extension AttemptFailure {
    /// Whether another session may help: the server did not know the token, so nothing was carried out, or it found the
    /// session broken and the request may be carried out twice.
    fileprivate func callsForAnotherSession(isRepeatable: Bool) -> Bool {
        guard let lease else { return false }
        return error.meansTokenRefused || isRepeatable && error.meansSessionBroken(lease)
    }

    /// The error of a failed second attempt: `tokensRefused` if its session was refused as well although it was fresh.
    fileprivate var errorOfSecond: FMRest.APIError {
        guard let lease, !lease.hasWorked, error.fileMakerCode?.meansSessionLost == true else { return error }
        return error.ofFreshToken
    }
}

extension SessionOutcome {
    /// What the end of a request says about its session.
    init(of end: AttemptEnd, in lease: SessionLease) {
        self =
            switch end {
            case .finished: .used
            case .failed(let error) where error.meansTokenRefused: .refused
            case .failed(let error) where error.meansSessionBroken(lease): .broken
            case .failed(let error) where error.meansHostFull: .hostFull
            case .failed(let error): error.provesToken ? .used : .unused
            // `first()` and the like cancel after one value; the server accepted the token even so.
            case .cancelled(let hasPublished): hasPublished ? .used : .unused
            }
    }
}
