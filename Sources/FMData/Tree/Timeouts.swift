extension DataAPI.Database {
    /// The same database, whose calls have other time limits than the server's.
    ///
    ///     let patient = database.timeouts { $0.firstByte = .seconds(900) }
    ///     let names = database.timeouts { $0.total = .seconds(2) }.getLayoutNames()
    ///
    /// It is the same in everything else: name, credentials, sessions and lists are shared, and what is changed through one
    /// shows in the other. The limits hold for every call made through what comes back, its layouts included; each call has
    /// its own time. Limits that are not touched stay as they are. Work in ``withSession(isolation:_:)`` waits that long
    /// for its session, and each call inside has these limits.
    ///
    /// See ``DataAPI/Timeouts`` for what each limit covers, and what the error says.
    ///
    /// - Parameter change: gets the limits that hold so far: those of ``DataAPI/Config/timeouts``, or of the call to this
    ///   method before.
    public func timeouts(_ change: (inout DataAPI.Timeouts) -> Void) -> DataAPI.Database {
        var limits = limits.ofOtherCalls
        change(&limits.timeouts)
        return DataAPI.Database(self, limits: limits)
    }

    /// For a call of several steps, which share its time.
    var forOneCall: DataAPI.Database {
        let limits = limits.ofOneCall
        return limits.clock == nil ? self : DataAPI.Database(self, limits: limits)
    }
}

extension DataAPI.Layout {
    /// The same layout, whose calls have other time limits than the server's.
    ///
    ///     people.timeouts { $0.total = .seconds(2) }.findRecords(query: query).returnAs(Person.self)
    ///
    ///     let nightly = reports.timeouts {
    ///         $0.firstByte = .seconds(1800)       // the script takes its time
    ///         $0.total = nil
    ///     }
    ///
    /// Each call has its own time: a publisher that is subscribed to twice makes two calls. Limits that are not touched
    /// stay as they are. See ``DataAPI/Timeouts`` for what each limit covers, and what the error says.
    ///
    /// - Parameter change: gets the limits that hold so far: those of ``DataAPI/Config/timeouts``, or of the call to this
    ///   method before.
    public func timeouts(_ change: (inout DataAPI.Timeouts) -> Void) -> DataAPI.Layout {
        DataAPI.Layout(name: name, database: database.timeouts(change), table: table)
    }

    /// For a call of several steps, which share its time.
    var forOneCall: DataAPI.Layout {
        DataAPI.Layout(name: name, database: database.forOneCall, table: table)
    }
}
