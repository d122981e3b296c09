import FMData
import Foundation
import OpenCombine

@testable import FMDataCore

extension Verb {
    /// A call that keeps itself current.
    ///
    /// - Parameter rows: all records.
    func watch(_ rows: DataAPI.TypedLayout<Row>, step id: Int) -> Call {
        func live(_ found: DataAPI.FoundSet<Row>, _ watch: DataAPI.LiveWatch = .automatic) -> Call {
            found.live(options(watch)).eraseToAnyPublisher().copied { $0.take($1) }
        }
        switch self {
        case .liveFound: return live(rows.find { $0(.note) == HostPlan.secret })
        case .liveByScan: return live(rows.allRecords, .scan(HostPlan.layout))
        case .liveByStamp: return live(rows.allRecords, .stamp("Changed", reconcile: 2))
        case .liveByLog: return live(rows.allRecords, .log(HostPlan.logLayout, serial: "Serial", reconcile: 2))
        case .changes: return rows.changes(options: options()).eraseToAnyPublisher().copied { $0.take($1) }
        case .changesTakenUp:
            let cursor = KeptCursor()
            return rows.changes(options: options())
                .prefix(2 + id % 3)
                .handleEvents(receiveOutput: { cursor.keep($0) })
                .append(Deferred { rows.changes(since: cursor.read(), options: self.options()) })
                .eraseToAnyPublisher()
                .copied { $0.take($1) }
        case .observe: return rows.observe(id + 1, options()).seen { $0.map(Seen.init) ?? .nothing }
        default: return live(rows.allRecords)
        }
    }

    private func options(_ watch: DataAPI.LiveWatch = .automatic) -> DataAPI.LiveOptions {
        DataAPI.LiveOptions(watch: watch, every: .seconds(5) ... .seconds(300))
    }

    /// A call that runs the body on demand, and then finishes. OpenCombine's own publishers of one value finish even if
    /// they were cancelled during it.
    static func now(_ body: @escaping () -> Void) -> Call {
        [()].publisher.setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) {
                body()
                return .of([Seen.nothing])
            }
            .eraseToAnyPublisher()
    }

    /// The error in the last value of a watching call that has received everything; `nil` if it is right.
    ///
    /// - Parameter table: the records that its account sees.
    func complaint(aboutLast value: Seen?, step id: Int, table: [Copy.Line]) -> String? {
        let expected: [Copy.Line] =
            switch self {
            case .liveFound: table.filter { $0.note == HostPlan.secret }
            default: table
            }
        switch (self, value) {
        case (.observe, let value):
            let own = table.first { $0.id == id + 1 }.map { Seen.record(id: $0.id, marker: $0.marker) } ?? .nothing
            return value == own ? nil : "expected \(own), and was told \(value ?? .nothing)"
        case (.changes, .copy(let copy)?), (.changesTakenUp, .copy(let copy)?):
            // A copy has no order.
            return copy.lines.sorted { $0.id < $1.id } == expected ? nil : Copy.difference(copy.lines, expected)
        case (_, .copy(let copy)?): return copy.lines == expected ? nil : Copy.difference(copy.lines, expected)
        default: return "was told nothing"
        }
    }
}

extension AnyPublisher where Failure == FMRest.APIError {
    /// The records that a subscriber knows after each value.
    fileprivate func copied(_ take: @escaping (inout Copy, Output) -> Void) -> Verb.Call {
        scan(Copy()) { copy, value in
            var copy = copy
            take(&copy, value)
            return copy
        }
        .seen(Seen.copy)
    }
}

/// The cursor of the last event, stored like in a file.
private final class KeptCursor {
    private var text = Data()

    func keep(_ event: DataAPI.LiveEvent<Row>) {
        switch event {
        case .ready(let cursor), .changed(_, _, let cursor): text = (try? JSONEncoder().encode(cursor)) ?? Data()
        case .snapshot, .unreadable, .reset: break
        }
    }

    func read() -> DataAPI.LiveCursor? { try? JSONDecoder().decode(DataAPI.LiveCursor.self, from: text) }
}
