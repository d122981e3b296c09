import FMData
import FMTestSupport
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// A copy as a program stores it: records and mark in one place, independent of the subscriptions to the changes.
final class CopyTable: Sendable {

    typealias Event = DataAPI.CopyEvent<Ship>

    struct State {
        var ships: [Int: Ship] = [:]
        var modIds: [Int: Int] = [:]
        var unreadable: [Int] = []
        /// Stored as JSON, as a program would do it.
        var mark: Data?
        var resets: [DataAPI.ResetReason] = []
        var polls = 0
        /// The number of events that were carried out.
        var count = 0
        /// The largest number of records in one event.
        var most = 0
        var failure: (any Error)?
    }

    private let box = NIOLockedValueBox(State())

    var state: State { box.withLockedValue(\.self) }
    var names: [String] { state.ships.sorted { $0.key < $1.key }.map(\.value.name) }
    var ids: [Int] { state.ships.keys.sorted() }

    /// Changes the stored copy from outside.
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
            case .polled(let mark, _):
                state.polls += 1
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

    /// Follows the changes until the result is released. That is equivalent to a kill: every delivered event was
    /// carried out.
    func follow(_ changes: DataAPI.CopyChanges<Ship>) -> AnyCancellable {
        changes.sink(receiveCompletion: { _ in }, receiveValue: { [self] in carryOut($0) })
    }

    /// Returns when this many polls were complete.
    func polls(_ count: Int) async { await until { state.polls >= count } }
}
