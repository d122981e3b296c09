import FMData
import Foundation
import NIOCore

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords
@testable import FMSandbox

/// The checks of live queries at the end.
extension Simulation {
    /// Watching calls that have not ended, ordered by step.
    var watching: [Call] {
        calls.values.filter { $0.step.verb.isWatching && $0.end == nil }.sorted { $0.step.id < $1.step.id }
    }

    /// When there are no more faults, all subscribers have unlimited demand and all queries are made to poll, they must
    /// have the records of the hosts.
    func letWatchersSee() {
        let watching = watching
        guard !watching.isEmpty else { return }
        let start = machine.now
        isEnding = true
        onUserThread(in: 0) { [self] in
            network.calmDown()
            if !program.isCalm { for host in hosts { host.calmDown() } }
            for call in watching { call.askForTheRest() }
        }
        // Pending requests get the time to fail, and each poll strategy the time for a complete poll.
        for _ in 0..<5 {
            onUserThread(in: 1) { [self] in
                let others = servers.flatMap(\.databases).filter { other in !databases.contains { $0 === other } }
                for database in databases + others { database.changed(hint) }
            }
            if machine.run(for: .minutes(4)) == .restless { return find("the world does not come to rest") }
        }
        for call in watching where call.end == nil {
            let (step, host) = (call.step, host(of: call.step))
            if shutdownsHaveEnded { find("call \(step.id) \(step.verb): goes on after the shutdown") }
            guard mustHaveSeen(step) || hasSeen(step, since: start) else { continue }
            if step.verb == .followCopy {
                if let complaint = complaint(aboutCopyOf: step) { find("call \(step.id) \(step.verb): \(complaint)") }
                continue
            }
            let table = host.table(for: account(of: step), isFound: step.verb == .liveFound)
            let complaint = step.verb.complaint(aboutLast: call.values.last, step: step.id, table: table)
            if let complaint { find("call \(step.id) \(step.verb): \(complaint)") }
        }
        letWatchersGo()
    }

    /// A hint that only says that something may have changed.
    private var hint: DataAPI.ChangeHint {
        DataAPI.ChangeHint(
            database: HostPlan.database,
            table: nil,
            rowIDs: nil,
            isSchema: false,
            receivedAt: Date(timeIntervalSince1970: 0)
        )
    }

    /// Whether polls must succeed: the client's time limits are longer than the host's answers take, the host keeps
    /// connections until a request comes, and a session outlasts a poll.
    private func mustHaveSeen(_ step: Step) -> Bool {
        let (client, host) = (program.client, program.hosts[step.host])
        let isPatient = client.total ?? .max >= 60 && client.firstByte >= 20 && client.waitingDeadline >= 30
        return isPatient && host.keepAlive >= 5000 && host.sessionLifetime >= 60
    }

    /// Whether polls have succeeded all the same, and one poll is enough for the kind of query.
    private func hasSeen(_ step: Step, since start: NIODeadline) -> Bool {
        guard step.verb != .liveByStamp, step.verb != .liveByLog, let database = objects[step.id]?.database else {
            return false
        }
        return database.liveRegistry.observers.allSatisfy { observer in
            (observer as? LivePoller<Row>).map { $0.lastState.asOf >= start } ?? false
        }
    }

    /// Cancels all watching calls, or half of them if a shutdown ends the others.
    private func letWatchersGo() {
        let endsByShutdown = program.ending != .release
        onUserThread(in: 0) { [self] in
            for call in watching where !endsByShutdown || call.step.id.isMultiple(of: 2) { call.cancel() }
        }
        // Values have a grace period of ten seconds.
        machine.run(for: .seconds(15))
        let stillWatched = Set(watching.map(\.step.host))
        let before = hosts.map(\.polls)
        machine.run(for: .minutes(10))
        for (index, host) in hosts.enumerated() where !stillWatched.contains(index) {
            let observers = databases[index].liveRegistry.observers.count
            if observers > 0 { find("\(observers) queries are looked after on \(host.name), and nobody listens") }
            if host.polls != before[index] { find("\(host.name) is looked at, and nobody listens") }
        }
    }

    /// After a shutdown all watching calls must have ended, and polls must have stopped.
    func checkWatchersEnded() {
        let before = hosts.map(\.polls)
        machine.run(for: .hours(2))
        for call in watching { find("call \(call.step.id) \(call.step.verb): goes on after the shutdown") }
        for (host, before) in zip(hosts, before) where host.polls != before {
            find("\(host.name) is looked at after the shutdown")
        }
    }
}
