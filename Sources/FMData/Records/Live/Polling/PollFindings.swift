import Foundation

/// What a poll has found.
struct PollFindings<R: RecordFields>: Sendable {
    typealias Attempt = RecordAttempt<R, R.Portals>

    /// The ids of the query's records, in its order; `nil` when those that were not read are as they are held.
    var order: [Int]?
    /// Those that were read. Others are as they are held.
    var read: [Attempt] = []
    /// Whether the table changed while it was being read.
    var isTorn = false
    /// Whether fewer came than the host had counted.
    var isShort = false
    /// Whether the host has another file than the one that was known: the records are all of that.
    var isOfOtherFile = false
    /// How the next poll goes on.
    var strategy: any PollStrategy
}

/// The versions of the records that are known when a poll begins.
protocol HeldVersions: Sendable {
    var isBlank: Bool { get }
    var count: Int { get }

    /// The modId of a record; `nil` for one that is not known.
    ///
    /// - Parameter place: where it may stand among those that are known, from 0.
    func modId(of id: Int, near place: Int) -> Int?
}
