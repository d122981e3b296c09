import FMDataCore
import FMDataRecords
import Foundation

/// A way to find out what has changed in a found set. It maps answers to questions, without publishers, records or
/// clocks.
///
/// It is kept from one poll to the next, in the state in which the last accepted poll left it, so it may store whatever
/// it needs.
protocol PollStrategy: Sendable {
    /// How it detects changes: the strategy that ``DataAPI/LiveWatch/automatic`` chose, or the one the program set.
    var watch: DataAPI.LiveWatch { get }

    /// Begins a poll. Returns its first question.
    mutating func begin(_ known: PollKnowledge) -> PollQuestion

    /// Receives a page of the answer to the last question.
    mutating func received(_ page: PollPage) throws(PollFailure)

    /// Returns the next step after a complete answer, however many pages it had.
    mutating func answered() -> PollStep

    /// What it needs to store between two runs of a program.
    var memory: PollMemory { get }

    /// Continues from the state in which an earlier run ended.
    mutating func resume(_ memory: PollMemory)
}

extension PollStrategy {
    /// Empty: the strategy needs nothing but the versions of the records.
    var memory: PollMemory { PollMemory() }

    mutating func resume(_ memory: PollMemory) {}
}

/// What poll strategies store between two runs; each uses its own fields.
struct PollMemory: Hashable, Sendable, Codable {
    /// The timestamp from which to search, as ISO 8601.
    var stamp: String?
    /// How many records of the table the account may not see.
    var unseen: Int?
    /// The greatest serial number of the log that was processed.
    var serial: Int?
    /// A digest of the related records' versions.
    var related: UInt64?
}

/// What is known of the records when a poll begins.
struct PollKnowledge: Hashable, Sendable {
    /// Whether nothing was read yet.
    var isBlank: Bool
    /// How many records are known.
    var count: Int
    /// Whether the query finds all records of the table.
    var isWholeTable: Bool
    /// Whether a change can move records: they are sorted, and the subscribers receive their order.
    var isSorted: Bool
}

/// A question of a poll. Its answer comes in pages.
enum PollQuestion: Hashable, Sendable {
    /// The query's records, with everything their type shows.
    case records
    /// The ids and modIds of the query's records.
    ///
    /// - layout: a layout with few fields; `nil` is the query's own.
    /// - key: a field of that layout with unique values, by which records can be read.
    case versions(layout: String?, key: String?)
    /// Ids, modIds and timestamps of those of the query's records that were modified at `since` or later.
    case modified(field: String, since: FMTimestamp, layout: String?)
    /// The same records, with everything their type shows.
    case modifiedRecords(field: String, since: FMTimestamp)
    /// The timestamps of the table's most recently modified records, in falling order.
    case newest(Int, field: String, layout: String?)
    /// How many records the query finds.
    case count
    /// The serial numbers of the log's entries after that number or, without one, of its last entry.
    case entries(layout: String, serial: String, after: Int?)
    /// The ids and modIds that a script returns.
    case script(name: String, parameter: String?)
    /// The records that this poll found in another version than the known one, or that are new, with everything their
    /// type shows.
    ///
    /// - key: the field whose values came with the list of versions.
    case changes(key: String?)
    /// The ids and modIds of all records of another layout.
    case related(layout: String)
    /// One record, with everything its type shows.
    case record(Int)
}

/// A page of an answer.
struct PollPage: Hashable, Sendable {
    var rows: [DataAPI.RecordVersion] = []
    /// One per row, if the question asks for them.
    var stamps: [FMTimestamp?] = []
    /// One per row, if the question asks for them.
    var serials: [Int?] = []
    /// How many rows are known in another version or not at all, and were not read in this poll.
    var changed = 0
    /// How many of those are not known at all.
    var arrivals = 0
    /// How many records the host has found, and how many the table has; `nil` when it does not say.
    var foundCount: Int?
    var tableCount: Int?
    /// When the host answered, by its own clock; `nil` when it does not say.
    var date: Date?
    /// Whether the table changed since the page before.
    var isInMotion = false
}

/// What follows from a complete answer.
enum PollStep: Hashable, Sendable {
    case ask(PollQuestion)
    /// The poll has found everything it needs.
    case done(PollScope)
}

/// What to assume about known records that a poll has not read.
enum PollScope: Hashable, Sendable {
    /// The query does not find them any more: the last list of records or versions was complete.
    case all
    /// They are unchanged.
    case changes
}

/// Why a poll cannot continue although the host answers.
enum PollFailure: Error, Hashable, Sendable {
    /// The query has more records than may be read again in each poll.
    case tooMany(Int)
    /// The layout through which ids are read does not show the key.
    case noKey(String, layout: String?)
}
