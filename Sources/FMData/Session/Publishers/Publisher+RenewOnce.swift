import OpenCombine

extension Publisher where Failure == AttemptFailure {
    /// Makes a second attempt, in another session, in the place of one whose session the server refused before a value was
    /// published. How the second ends is the end; so is any other failure of the first.
    ///
    /// - Parameters:
    ///   - isRepeatable: whether the attempt may be made again although the server may have carried the first one out. If so,
    ///     a session counts as refused as well when it was found broken.
    ///   - isReplayable: whether the attempt can be made again at all.
    ///   - second: makes the second attempt, from the failure of the first.
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
    /// Whether another session may help: the server did not know the token, so that nothing was carried out, or found the
    /// session broken under a request that may be carried out twice.
    fileprivate func callsForAnotherSession(isRepeatable: Bool) -> Bool {
        guard let lease else { return false }
        return error.meansTokenRefused || isRepeatable && error.meansSessionBroken(lease)
    }

    /// What the failure of a second attempt is told as: when its session was refused as well, though fresh, it is the tokens.
    fileprivate var errorOfSecond: FMRest.APIError {
        guard let lease, !lease.hasWorked, error.fileMakerCode?.meansSessionLost == true else { return error }
        return error.ofFreshToken
    }
}

extension SessionOutcome {
    /// What the end of a request says of the session it was made in.
    init(of end: AttemptEnd, in lease: SessionLease) {
        self =
            switch end {
            case .finished: .used
            case .failed(let error) where error.meansTokenRefused: .refused
            case .failed(let error) where error.meansSessionBroken(lease): .broken
            case .failed(let error) where error.meansHostFull: .hostFull
            case .failed(let error): error.provesToken ? .used : .unused
            // Whoever wants one value cancels as soon as he has it: the server took the token all the same.
            case .cancelled(let hasPublished): hasPublished ? .used : .unused
            }
    }
}
