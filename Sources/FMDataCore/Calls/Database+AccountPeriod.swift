package import OpenCombine

extension DataAPI.Database {
    /// Several calls that are all made as one account: the account at the time of the first demand. They fail together
    /// when that account is replaced.
    ///
    /// - Parameter make: makes the publisher. Its argument is the account's period, which the calls have to be
    ///   bound to (``DataAPI/Calling/bound(to:)``).
    package func asOneAccount<Output>(
        _ make: @escaping (AccountPeriod) -> AnyPublisher<Output, FMRest.APIError>
    ) -> AnyPublisher<Output, FMRest.APIError> {
        AccountPeriodPublisher(accountPeriod: { self.accountPeriod }) { accountPeriod in
            AccountPeriodPublisher.Work(publisher: make(accountPeriod))
        }
        .eraseToAnyPublisher()
    }
}

extension DataAPI.Calling {
    /// The same, with its calls bound to this account period. They are steps of one operation, so none is answered from
    /// a cache, and all are logged for the code that begins it.
    package func bound(to accountPeriod: AccountPeriod) -> Self {
        callOptions { options in
            options.accountPeriod = accountPeriod
            options.cacheTime = nil
            options.noteCaller()
        }
    }
}
