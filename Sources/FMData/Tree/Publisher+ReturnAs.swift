public import OpenCombine

extension Publisher {
    /// Names the type of a response's fields where the compiler cannot infer it. The response's portals are not
    /// decoded.
    ///
    ///     people.getRecords().returnAs(Person.self)
    public func returnAs<R>(_ fields: R.Type) -> Self where Output == DataAPI.RecordResponse<R, DataAPI.EmptyPortal> {
        self
    }

    /// Names the types of a response's fields and portals where the compiler cannot infer them.
    ///
    ///     orders.getRecords().returnAs(Order.self, OrderPortals.self)
    public func returnAs<R, P>(_ fields: R.Type, _ portals: P.Type) -> Self
    where Output == DataAPI.RecordResponse<R, P> {
        self
    }
}
