import FMData
import NIOCore

@testable import FMDataCore
@testable import FMSandbox

/// The checks of programs in which several accounts see different records: no call may return a record that its account
/// does not see, and no write may be carried out by another account than the one with which it was made.
extension Simulation {
    /// The account of a database object, as it knows it; `nil` in programs of one account.
    func account(of database: DataAPI.Database?) -> String? {
        guard program.work == .accounts, let account = database?.identity.account else { return nil }
        return HostPlan.accounts.first { Account(DataAPI.Login(HostPlan.credentials(of: $0))) == account }
    }

    /// The account of a call that begins now.
    func account(of step: Step) -> String? { account(of: objects[step.id]?.database) }

    /// The object for a step.
    func take(for step: Step) -> DataAPI.Database {
        let database = database(of: step)
        guard let name = step.account else {
            objects[step.id] = WeakDatabase(database: database)
            return database
        }
        let own = database.signedIn(as: HostPlan.credentials(of: name))
        objects[step.id] = WeakDatabase(database: own)
        if account(of: own) != name { find("call \(step.id) \(step.verb): the object of \(name) is another account's") }
        return own
    }

    func credentials(of database: DataAPI.Database) -> DataAPI.Credentials {
        account(of: database).map(HostPlan.credentials(of:)) ?? .init(user: HostPlan.user, password: HostPlan.password)
    }

    func credentialsOfTheOther(than database: DataAPI.Database) -> DataAPI.Credentials {
        let present = account(of: database)
        return HostPlan.credentials(of: HostPlan.accounts.first { $0 != present } ?? HostPlan.user)
    }

    /// Replaces the account of the database by the other one, and checks that no state of the first one is left.
    func swap(_ database: DataAPI.Database) {
        let next = credentialsOfTheOther(than: database)
        trace.note { "\(database) becomes \(next)" }
        let callCount = callCount
        database.replaceCredentials(next)
        // A subscriber of the change may have replaced it again.
        guard self.callCount == callCount else { return }
        if account(of: database) != next.user { find("a database does not become \(next)") }
        if !database.layoutList.isEmpty || !database.scriptList.isEmpty {
            find("a database that became \(next) still has lists of the account before")
        }
        if database.credentials.kind == .token, database.sessionStatus.loggingIn + database.sessionStatus.sessions == 0
        {
            find("a database that became \(next) shows a token")
        }
    }

    // MARK: Values

    /// Reports a value that the call's account may not see.
    func checkAccount(of call: Call, given value: Seen) {
        guard program.work == .accounts, let present = account(of: call.step) else { return }
        let step = call.step
        func complain(_ text: String) { find("call \(step.id) \(step.verb): \(text)") }
        switch step.verb {
        // These calls change the account or have a result for the one that wrote.
        case .swap, .swapByLogin, .logIn, .logOut, .batchCreate, .batchEdit: break
        case _ where step.verb.isWatching: break
        default:
            if let asked = call.account, asked != present { complain("asked for as \(asked), and told as \(present)") }
        }
        for record in value.records where record.marker != Reader.noAccess {
            let owner = host(of: step).owner(of: record.id)
            if let owner, owner != present { complain("record \(record.id) of \(owner) is shown to \(present)") }
        }
        switch (step.verb, value) {
        case (.whoAmI, .text(let name)) where name != present:
            complain("was carried out by \(name ?? "nobody") for \(present)")
        case (.layouts, .names(let names)):
            let own = HostPlan.accounts.filter { names.contains(HostPlan.layout(of: $0)) }
            if own != [present] { complain("the layouts of \(own) are shown to \(present)") }
        case (.download, .bytes), (.downloadStream, .bytes):
            let owner = host(of: step).owner(of: step.id + 1)
            if let owner, owner != present { complain("a container of \(owner) is shown to \(present)") }
        default: break
        }
    }

    // MARK: Writes

    /// Reports writes by another account than the one with which they were made.
    func checkAuthors() {
        guard program.work == .accounts else { return }
        for (index, host) in hosts.enumerated() {
            for record in host.authors {
                let isMade = record.marker.first.map { "cby".contains($0) } ?? false
                let digits = record.marker.dropFirst().prefix { $0.isNumber }
                guard let id = isMade ? Int(digits) : record.id - 1, let call = calls[id], call.step.host == index,
                    let asked = call.account
                else { continue }
                switch call.step.verb.write {
                case .newRecord, .newRecords:
                    if isMade, record.owner != asked {
                        find("call \(id) \(call.step.verb): asked for as \(asked), and carried out by \(record.owner)")
                    }
                case .newVersion, .newVersions:
                    if !isMade, !record.editor.isEmpty, record.editor != asked {
                        find("call \(id) \(call.step.verb): asked for as \(asked), and carried out by \(record.editor)")
                    }
                case .copy, .removal, nil: break
                }
            }
        }
    }

    // MARK: Objects

    /// At the end, databases without references must be deallocated and unregistered.
    func checkRegistries() {
        guard program.work == .accounts, watching.isEmpty else { return }
        // Values of live queries have a grace period of ten seconds.
        machine.run(for: .seconds(15))
        for server in servers where server.registeredCount > server.databases.count {
            find("\(server) knows \(server.registeredCount) databases, and \(server.databases.count) are there")
        }
        let held = Set(databases.map(ObjectIdentifier.init))
        for database in servers.flatMap(\.databases) where !held.contains(ObjectIdentifier(database)) {
            find("\(database) of \(account(of: database) ?? "nobody") is there, and nobody holds it")
        }
    }

    /// A record as an account without access sees it.
    static func hidden(_ line: Copy.Line) -> Copy.Line {
        Copy.Line(id: line.id, modId: line.modId, marker: Reader.noAccess, note: Reader.noAccess)
    }
}

struct WeakDatabase {
    weak var database: DataAPI.Database?
}

extension SimulatedHost {
    private func value(_ name: String, in record: Record) -> String {
        engine.model.tables[0].field(named: name).map { record.values[$0.slot].text } ?? ""
    }

    /// The account that owns a record; `nil` if it was deleted.
    func owner(of recordId: Int) -> String? {
        engine.world.tables[0].record(recordId).map { value("Owner", in: $0) }
    }

    /// The accounts that have created and last changed each record.
    var authors: [(id: Int, marker: String, owner: String, editor: String)] {
        engine.world.tables[0].records.map { record in
            (record.id, value("Marker", in: record), value("Owner", in: record), value("Editor", in: record))
        }
    }

    /// The records in their order of creation, as this account finds or lists them.
    func table(for account: String?, isFound: Bool) -> [Copy.Line] {
        engine.world.tables[0].records.compactMap { record in
            let line = Copy.Line(
                id: record.id,
                modId: record.modId,
                marker: record.values[0].text,
                note: record.values[1].text
            )
            guard let account, value("Owner", in: record) != account else { return line }
            return isFound ? nil : Simulation.hidden(line)
        }
    }
}
