import Foundation
import NIOCore

@testable import FMData

/// The checks of live queries that several processes share, when all faults are over: each has the records of the host,
/// one process polls for all, and a hint to any of them reaches it.
extension Simulation {
    func letFeedsSee() {
        guard program.fleet != nil, !watching.isEmpty else { return }
        onUserThread(in: 0) { [self] in
            network.calmDown()
            hosts[0].forgetFaults(expiresSessions: false)
        }
        for call in watching { onThread(of: call.step, in: 0) { call.askForTheRest() } }
        // The pauses of a query grow to five minutes, and a removal needs two polls.
        pass(.minutes(12))
        checkFeeds("at rest")
        hint(\.first)
        checkFeeds("after a hint to the first process")
        checkWhoPolls(during: .minutes(8))
        hint(\.last)
        checkFeeds("after a hint to the last process")
        letFeedsGo()
    }

    private func pass(_ span: TimeAmount) {
        if machine.run(for: span) == .restless { find("the world does not come to rest") }
    }

    /// The watching calls of each query. Values and changes of the same records are one query.
    private var queries: [[Call]] {
        let calls = Dictionary(grouping: watching) { $0.step.verb == .changes ? "live" : "\($0.step.verb)" }
        return calls.sorted { $0.key < $1.key }.map(\.value)
    }

    private func checkFeeds(_ moment: String) {
        let table = hosts[0].table(for: nil, isFound: false)
        for call in watching {
            let (step, process) = (call.step, call.process?.member ?? 0)
            let complaint = step.verb.complaint(aboutLast: call.values.last, step: step.id, table: table)
            if let complaint { find("call \(step.id) \(step.verb) of process \(process), \(moment): \(complaint)") }
        }
        for call in calls.values.sorted(by: { $0.step.id < $1.step.id }) where call.step.verb.isWatching {
            guard case .failed(let error) = call.end, call.process?.isLeaving == false else { continue }
            find("call \(call.step.id) \(call.step.verb): ended by itself: \(error)")
        }
    }

    /// Others write a record, and one process of each query hears that something may have changed. All must have the
    /// record long before the next poll of a query is due.
    private func hint(_ choice: KeyPath<[Call], Call?>) {
        hosts[0].commitByOthers(.createByOthers, step: 1000 + machine.turns)
        let hint = DataAPI.ChangeHint(
            database: HostPlan.database,
            table: nil,
            rowIDs: nil,
            isSchema: false,
            receivedAt: Date(timeIntervalSince1970: 0)
        )
        for call in queries.compactMap({ $0[keyPath: choice] }) {
            onThread(of: call.step, in: 0) { call.process?.database?.changed(hint) }
        }
        pass(.seconds(100))
    }

    /// While all is quiet, one process polls for all that have the query.
    private func checkWhoPolls(during span: TimeAmount) {
        let processes = processes
        let before = processes.map(\.polls)
        pass(span)
        var polling: [String: [Int]] = [:]
        for (process, before) in zip(processes, before) {
            for (query, count) in process.polls where count > before[query, default: 0] {
                polling[query, default: []].append(process.member)
            }
        }
        for (_, members) in polling.sorted(by: { $0.key < $1.key }) where members.count > 1 {
            find("processes \(members) poll for one query")
        }
        if polling.count != queries.count { find("\(polling.count) of \(queries.count) queries are polled") }
    }

    /// Cancels all watching calls, or half of them if a shutdown ends the others.
    private func letFeedsGo() {
        let endsByShutdown = program.ending != .release
        for call in watching where !endsByShutdown || call.step.id.isMultiple(of: 2) {
            onThread(of: call.step, in: 0) { call.cancel() }
        }
        // Values have a grace period of ten seconds.
        pass(.seconds(15))
        guard watching.isEmpty else { return }
        let before = hosts[0].polls
        pass(.minutes(5))
        if hosts[0].polls != before { find("\(hosts[0].name) is looked at, and nobody listens") }
    }
}
