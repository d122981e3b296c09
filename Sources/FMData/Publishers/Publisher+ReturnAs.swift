public import OpenCombine

extension Publisher {
    /// Says what the records of a response are, where the compiler cannot tell: the type of their fields, with portals that
    /// do not matter.
    ///
    ///     people.getRecords().returnAs(Person.self)
    public func returnAs<R>(_ fields: R.Type) -> Self where Output == DataAPI.RecordResponse<R, DataAPI.EmptyPortal> {
        self
    }

    /// Says what the records of a response are: the type of their fields and the type of their portals.
    ///
    ///     orders.getRecords().returnAs(Order.self, OrderPortals.self)
    public func returnAs<R, P>(_ fields: R.Type, _ portals: P.Type) -> Self
    where Output == DataAPI.RecordResponse<R, P> {
        self
    }
}
