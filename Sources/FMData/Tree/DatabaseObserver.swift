/// An attachment of a database (``Attachments``) that wants to know what happens to the database.
protocol DatabaseObserver: Sendable {
    /// A record was written through a layout of the database, and the host has confirmed it.
    ///
    /// - Parameter recordId: the record in the request's path; `nil` for a new record and for a script.
    func written(_ recordId: Int?, on layout: String)

    /// The database acts as another account from now on.
    func beginAnew()

    /// The database's sessions are being shut down.
    func shutDown()
}

extension DataAPI.Database {
    var observers: [any DatabaseObserver] { attachments.all((any DatabaseObserver).self) }
}
