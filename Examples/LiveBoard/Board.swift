import FMData
import Foundation

/// The board: the ships of all harbours, and below them the events.
struct Board {
    private var ships: [String: [Ship]] = [:]

    /// Applies an event. Returns the lines to print, one for each change.
    mutating func take(_ event: BoardEvent) -> [String] {
        switch event {
        case .lost(let harbour): return ["\(harbour): connection lost"]
        case .reconnected(let harbour): return ["\(harbour): reconnected"]
        case .ships(let harbour, let value):
            ships[harbour] = value.records.map(\.fieldData)
            guard value.freshness.origin != .snapshot else { return ["\(harbour): \(value.records.count) ships"] }
            let changes = value.changes
            return changes.inserted.map { "\(harbour): inserted \($0.fieldData.name)" }
                + changes.updated.map {
                    "\(harbour): updated \($0.record.fieldData.name), now at \($0.record.fieldData.berth)"
                }
                + changes.removed.map { "\(harbour): \($0.reason) \($0.record?.fieldData.name ?? "")" }
        }
    }

    /// Draws the current board over the last one. Only in a terminal.
    func draw() {
        guard isatty(STDOUT_FILENO) == 1 else { return }
        let lines = ships.sorted { $0.key < $1.key }.flatMap { harbour, ships in
            ships.map { ship in
                harbour.padding(toLength: 10, withPad: " ", startingAt: 0)
                    + ship.name.padding(toLength: 14, withPad: " ", startingAt: 0) + ship.berth
            }
        }
        // Move to the top left, and clear the screen below.
        print("\u{1B}[H\u{1B}[J" + lines.joined(separator: "\n") + "\n")
    }
}
