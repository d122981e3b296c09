import Foundation

/// The findings of a poll.
struct PollFindings<R: RecordFields>: Sendable {
    typealias Attempt = RecordAttempt<R, R.Portals>

    /// The ids of the query's records, in its order; `nil` when records that were not read are unchanged.
    var order: [Int]?
    /// The records that were read. All others are unchanged.
    var read: [Attempt] = []
    /// Whether the findings are inconsistent: the table changed while it was read.
    var isInconsistent = false
    /// Whether fewer records came than the host had counted.
    var isShort = false
    /// Whether the host has another file than the known one; all records are then from the new file.
    var isOfOtherFile = false
    /// The strategy for the next poll.
    var strategy: any PollStrategy
}

/// The versions of the records that are known when a poll begins.
protocol HeldVersions: Sendable {
    var isBlank: Bool { get }
    var count: Int { get }

    /// The modId of a record; `nil` for one that is not known.
    ///
    /// - Parameter place: where it probably stands among the known records, from 0.
    func modId(of id: Int, near place: Int) -> Int?
}
