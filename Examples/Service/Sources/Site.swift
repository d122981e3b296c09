import FMData
import FMDataMetrics
import Logging

/// One FileMaker server with its contacts. The process has one object of each: its sessions serve all visitors.
struct Site: Sendable {
    let name: String
    let server: DataAPI.Server
    let contacts: DataAPI.TypedLayout<Contact>
    /// The live query that all visitors share. It polls as long as somebody watches.
    let changes: DataAPI.LiveQuery<Contact>

    init(_ name: String, environment: [String: String], logger: Logger) throws {
        var config = DataAPI.Config()
        // Its lines also carry the metadata of the task's logger, which Hummingbird sets: the id of the request.
        config.logger = logger
        DataAPIMetrics().install(in: &config)
        // Visitors wait, and so does whoever stops the service.
        config.timeouts.connect = .seconds(2)
        config.sessions.fullHostDeadline = .seconds(2)
        config.sessions.logOutDeadline = .seconds(2)
        config.sessions.shutdownDeadline = .seconds(10)

        let prefix = "FM_\(name.uppercased())_"
        self.name = name
        server = try DataAPI.Server(environment: environment, prefix: prefix, config: config)
        contacts = try server.addDatabase(environment: environment, prefix: prefix).layout(Contact.self)
        changes = contacts.sorted(by: .name).live(DataAPI.LiveOptions(every: .seconds(1) ... .seconds(10)))
    }

    /// For writes: a visitor waits ten seconds at most.
    var writing: DataAPI.TypedLayout<Contact> { contacts.timeouts { $0.total = .seconds(10) } }

    /// For reads: equal ones at the same moment are one request, and one that fails for a passing reason is tried again
    /// for two seconds.
    var reading: DataAPI.TypedLayout<Contact> { writing.coalescingReads().retrying(.init(deadline: .seconds(2))) }
}
