import Foundation

/// One way to find out what has changed in a found set: answers in, questions out; no publisher, no records, no time.
///
/// It is kept from one poll to the next, as the last poll that was accepted has left it: what it has to remember is its own.
protocol PollStrategy: Sendable {
    /// How it looks for changes: what ``DataAPI/LiveWatch/automatic`` has come to, or what the program has said.
    var watch: DataAPI.LiveWatch { get }

    /// What to ask first, now that a poll begins.
    mutating func begin(_ known: PollKnowledge) -> PollQuestion

    /// Takes in a page of the answer to the last question.
    mutating func received(_ page: PollPage) throws(PollFailure)

    /// What follows now that the answer is complete, however many pages it had.
    mutating func answered() -> PollStep

    /// What it has to remember from one run of a program to the next.
    var memory: PollMemory { get }

    /// Goes on where an earlier run has ended.
    mutating func resume(_ memory: PollMemory)
}

extension PollStrategy {
    /// Nothing, where all that is needed are the versions of the records.
    var memory: PollMemory { PollMemory() }

    mutating func resume(_ memory: PollMemory) {}
}

/// What poll strategies remember from one run to the next, each its own.
struct PollMemory: Hashable, Sendable, Codable {
    /// The stamp from which is searched, as ISO 8601.
    var stamp: String?
    /// How many records of the table the account does not see.
    var unseen: Int?
    /// The greatest serial number of a log that was dealt with.
    var serial: Int?
    /// The digest of the related records' versions.
    var related: UInt64?
}

/// What is known of the records when a poll begins.
struct PollKnowledge: Hashable, Sendable {
    /// Whether nothing was seen yet.
    var isBlank: Bool
    /// How many records there are.
    var count: Int
    /// Whether the query is of all records of the table.
    var isWholeTable: Bool
    /// Whether a change can give records other places: they are sorted, and the subscribers are told their order.
    var isSorted: Bool
}

/// What a poll asks. Each is answered by pages.
enum PollQuestion: Hashable, Sendable {
    /// The query's records with all that their type shows.
    case records
    /// The ids and modIds of the query's records.
    ///
    /// - layout: which shows few fields; `nil` is the query's own.
    /// - key: a field of that layout that tells its records apart, by which they can be read.
    case versions(layout: String?, key: String?)
    /// Ids, modIds and stamps of those of the query's records that were modified then or later.
    case modified(field: String, since: FMTimestamp, layout: String?)
    /// The same records with all that their type shows.
    case modifiedRecords(field: String, since: FMTimestamp)
    /// The stamps of the records of the table that were modified last, in falling order.
    case newest(Int, field: String, layout: String?)
    /// How many records the query finds.
    case count
    /// The serial numbers of a log's entries after that one; without one, of its last entry.
    case entries(layout: String, serial: String, after: Int?)
    /// The ids and modIds that a script answers with.
    case script(name: String, parameter: String?)
    /// The records of this poll that are known in another version or not at all, with all that their type shows.
    ///
    /// - key: the field whose values the list of versions has brought.
    case changes(key: String?)
    /// The ids and modIds of all records of another layout.
    case related(layout: String)
    /// One record, with all that its type shows.
    case record(Int)
}

/// A page of an answer.
struct PollPage: Hashable, Sendable {
    var rows: [DataAPI.RecordVersion] = []
    /// Beside the rows, where they are asked for.
    var stamps: [FMTimestamp?] = []
    /// Beside the rows, where they are asked for.
    var serials: [Int?] = []
    /// Rows that are known in another version or not at all, and were not read in this poll.
    var changed = 0
    /// Those among them that are not known at all.
    var arrivals = 0
    /// How many records the host has found, and how many are in the table; `nil` when it does not say.
    var foundCount: Int?
    var tableCount: Int?
    /// When the host answered, by its own clock; `nil` when it does not say.
    var date: Date?
    /// Whether the table was seen to change since the page before.
    var isInMotion = false
}

/// What follows from a whole answer.
enum PollStep: Hashable, Sendable {
    case ask(PollQuestion)
    /// All is known that this poll is to find out.
    case done(PollScope)
}

/// What is known of records that a poll has not seen.
enum PollScope: Hashable, Sendable {
    /// They are not among the query's: the last list of records or versions was complete.
    case all
    /// They are as they were.
    case changes
}

/// Why a poll cannot go on, although the host answers.
enum PollFailure: Error, Hashable, Sendable {
    /// The query has more records than are to be read again each time.
    case tooMany(Int)
    /// The layout through which ids are read does not show the key.
    case noKey(String, layout: String?)
}
