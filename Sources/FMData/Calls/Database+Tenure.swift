import OpenCombine

extension DataAPI.Database {
    /// Several calls that are all made as one account: the account at the time of the first demand. They fail together
    /// when that account is replaced.
    ///
    /// - Parameter make: makes the publisher. Its argument is the account's tenure, which the calls have to be bound to
    ///   (``DataAPI/Calling/bound(to:)``).
    func asOneAccount<Output>(
        _ make: @escaping (Tenure) -> AnyPublisher<Output, FMRest.APIError>
    ) -> AnyPublisher<Output, FMRest.APIError> {
        TenuredPublisher(tenure: { self.tenure }) { tenure in TenuredPublisher.Work(publisher: make(tenure)) }
            .eraseToAnyPublisher()
    }
}

extension DataAPI.Calling {
    /// The same, with its calls bound to this tenure. They are steps of one operation, so none is answered from a
    /// cache, and all are logged for the code that begins it.
    func bound(to tenure: Tenure) -> Self {
        callOptions { options in
            options.tenure = tenure
            options.cacheTime = nil
            options.noteCaller()
        }
    }
}
