import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

@testable import FMData

/// A copy as a program keeps it: records and mark in one place, which outlives those who follow the changes.
final class CopyTable: Sendable {

    typealias Event = DataAPI.CopyEvent<Ship>

    struct State {
        var ships: [Int: Ship] = [:]
        var modIds: [Int: Int] = [:]
        var unreadable: [Int] = []
        /// As JSON, which is what a program keeps.
        var mark: Data?
        var resets: [DataAPI.ResetReason] = []
        var looks = 0
        /// Events that were carried out.
        var count = 0
        /// The most records of one event.
        var most = 0
        var failure: (any Error)?
    }

    private let box = NIOLockedValueBox(State())

    var state: State { box.withLockedValue(\.self) }
    var names: [String] { state.ships.sorted { $0.key < $1.key }.map(\.value.name) }
    var ids: [Int] { state.ships.keys.sorted() }

    /// Changes what is kept, as if somebody had.
    func change(_ change: (inout State) -> Void) { box.withLockedValue(change) }

    func carryOut(_ event: Event) {
        box.withLockedValue { state in
            state.count += 1
            switch event {
            case .records(let records):
                state.most = max(state.most, records.count)
                for record in records {
                    state.ships[record.recordId] = record.fieldData
                    state.modIds[record.recordId] = record.modId
                }
            case .unreadable(let records): state.unreadable += records.map(\.recordId)
            case .gone(let records):
                for record in records {
                    state.ships[record.recordId] = nil
                    state.modIds[record.recordId] = nil
                }
            case .looked(let mark, _):
                state.looks += 1
                state.mark = try? JSONEncoder().encode(mark)
            case .reset(let reason):
                state.resets.append(reason)
                state.ships = [:]
                state.modIds = [:]
                state.mark = nil
            }
        }
    }

    var keeper: DataAPI.CopyKeeper {
        DataAPI.CopyKeeper(
            mark: { [self] done in
                if let failure = state.failure { return done(.failure(failure)) }
                done(Result { try state.mark.map { try JSONDecoder().decode(DataAPI.CopyMark.self, from: $0) } })
            },
            versions: { [self] after, limit, done in
                let versions = state.modIds.sorted { $0.key < $1.key }.filter { $0.key > after ?? .min }.prefix(limit)
                done(.success(versions.map { DataAPI.RecordVersion(recordId: $0.key, modId: $0.value) }))
            }
        )
    }

    /// Follows the changes until it is let go, which is as good as a kill: what was told was carried out.
    func follow(_ changes: DataAPI.CopyChanges<Ship>) -> AnyCancellable {
        changes.sink(receiveCompletion: { _ in }, receiveValue: { [self] in carryOut($0) })
    }

    /// Returns when so many looks were complete.
    func looks(_ count: Int) async { await until { state.looks >= count } }
}

extension DataAPI.CopyChanges {
    /// What it does now.
    var statusNow: DataAPI.LiveStatus {
        var now = DataAPI.LiveStatus.idle
        _ = status.first().sink { now = $0 }
        return now
    }

    var isAtRest: Bool {
        switch statusNow {
        case .waiting, .failing, .paused, .ended: true
        case .idle, .looking, .throttled: false
        }
    }
}
