public import FMDataCore
import FMDataRecords

extension DataAPI {
    /// How a live query polls for changes of its records.
    ///
    ///     people.find { $0(.city) == "Calgary" }.live(DataAPI.LiveOptions(every: .seconds(2) ... .seconds(30)))
    ///
    /// Live queries share their polls when these options, the query and the record type are equal.
    public struct LiveOptions: Hashable, Sendable {
        /// How changes are detected. The default is ``LiveWatch/automatic``.
        public var watch: LiveWatch
        /// Whether changes of related data, which need no commit of the record itself, are detected. The default is
        /// ``LiveRelated/ignore``.
        public var related: LiveRelated
        /// Whether a commit that leaves the contents equal, such as an import or a write of the same values, counts as
        /// no change. The default is `false`: it counts as a change.
        public var removeDuplicates: Bool
        /// The pause between two polls: the lower bound after a change, rising to the upper bound while nothing
        /// changes. The default is 5 to 60 seconds. Each pause is up to a tenth shorter or longer, so that many queries
        /// do not poll at once. Pauses are longer when a poll costs the host much time; see ``restFactor``.
        public var every: ClosedRange<Duration>
        /// The least pause, as a multiple of the time the host worked for the poll before it, but not more than
        /// ``longestPause``. The default is 10: as long as that bound allows, a query takes at most about a tenth of
        /// one session's time. The first time this asks for a longer pause than ``every`` allows, a warning is logged.
        /// 0 leaves the pauses to ``every``. The first poll, which reads all records, is not counted.
        public var restFactor: Double
        /// The bound of the pauses that grow by themselves: those after polls that took the host long, by
        /// ``restFactor``, and those after polls that failed, which double from a second. The upper bound of ``every``
        /// holds where that is longer. The default is 60 seconds. ``LiveStatus/until`` says when the next poll comes.
        public var longestPause: Duration
        /// The grace period: how long the last value is kept after the last subscriber has cancelled. The default is 10
        /// seconds.
        public var gracePeriod: Duration
        /// The retry timeout: how long polls may fail with transient errors before the query fails. `nil`, the default,
        /// means for ever; ``LiveQuery/status`` shows the failures.
        public var retryTimeout: Duration?
        /// How long the host must keep answering that the query cannot be answered before the query fails. Such answers
        /// are: a layout, table, field or script is missing; the script of ``LiveWatch/script(_:parameter:)`` failed;
        /// privileges were lost; the request is not understood; a gateway denied access; or none of several records can
        /// be decoded. The delay is there because a developer may be editing the file; ``LiveQuery/status`` shows the
        /// error meanwhile. The default is 60 seconds.
        public var givesUpAfter: Duration
        /// The most records that ``LiveWatch/reread`` reads in each poll; a query with more records fails. The default
        /// is 5,000. The other poll strategies have no limit.
        public var maximumRecords: Int

        /// Options for a live query; the properties explain them and their defaults.
        public init(
            watch: LiveWatch = .automatic,
            related: LiveRelated = .ignore,
            removeDuplicates: Bool = false,
            every: ClosedRange<Duration> = .seconds(5) ... .seconds(60),
            gracePeriod: Duration = .seconds(10),
            retryTimeout: Duration? = nil,
            maximumRecords: Int = 5000,
            givesUpAfter: Duration = .seconds(60),
            restFactor: Double = 10,
            longestPause: Duration = .seconds(60)
        ) {
            self.watch = watch
            self.related = related
            self.removeDuplicates = removeDuplicates
            self.every = every
            self.gracePeriod = gracePeriod
            self.retryTimeout = retryTimeout
            self.maximumRecords = maximumRecords
            self.givesUpAfter = givesUpAfter
            self.restFactor = restFactor
            self.longestPause = longestPause
        }
    }

    /// Whether a live query detects changes without a commit of its records: portal rows, unstored calculations,
    /// related fields.
    public enum LiveRelated: Hashable, Sendable {
        /// Such changes are not detected.
        case ignore
        /// Every so many polls all records are read again and compared by their contents.
        case reread(every: Int)
        /// All records are read again and compared by their contents whenever a record of this layout was inserted,
        /// changed or deleted. The layout belongs to the related table.
        case watch(layout: String)
    }

    /// A strategy for detecting changes. FileMaker sends no notifications, so each strategy polls; they differ in what
    /// they cost the host and in what they miss.
    public struct LiveWatch: Hashable, Sendable {
        enum Method: Hashable, Sendable {
            case automatic, reread
            case scan(layout: String?, key: String?)
            case stamp(field: String, layout: String?, overlap: Duration, reconcile: Int)
            case log(layout: String, serial: String, reconcile: Int)
            case script(name: String, parameter: String?)
        }

        let method: Method

        /// Needs nothing in the file. Up to 500 records are read again in each poll, as by ``reread``; of more, the ids
        /// and modIds are compared, as by ``scan(_:key:)-(_,String?)``, through the query's own layout.
        /// ``Freshness/watch`` shows which one was used. For large tables, name a layout with few fields, or a
        /// timestamp field: neither is ever guessed.
        public static let automatic = LiveWatch(method: .automatic)

        /// Reads all records again in each poll, portals and calculations included.
        public static let reread = LiveWatch(method: .reread)

        /// Reads the ids and modIds of all records through a layout of the same table with few fields and no portal,
        /// then reads the records that have changed. Does not detect changes without a commit of the record: unstored
        /// calculations, portals.
        ///
        /// Up to 20 changed records are read one by one. More are read 50 at a time by their keys or, without a key,
        /// page by page together with their neighbours.
        ///
        /// - Parameters:
        ///   - layout: the layout with few fields.
        ///   - key: a field with unique values, on that layout and on the query's. The default is none.
        public static func scan(_ layout: some LayoutKey, key: String? = nil) -> LiveWatch {
            LiveWatch(method: .scan(layout: layout.layoutName, key: key))
        }

        /// ``scan(_:key:)-(_,String?)``, with the key given by its coding key.
        public static func scan(_ layout: some LayoutKey, key: some CodingKey) -> LiveWatch {
            scan(layout, key: key.stringValue)
        }

        /// Finds recently modified records by a timestamp field. Reads all ids again when the record count shows a
        /// deletion, and after every `reconcile` polls.
        ///
        /// The field should be a stored one that auto-enters `Get(CurrentHostTimestamp)` whenever the record is
        /// modified. At least the 50 newest timestamps are searched again in each poll, so that a few in the future,
        /// from a wrong clock, hide nothing.
        ///
        /// - Parameters:
        ///   - field: the timestamp field, on the query's layout.
        ///   - layout: a layout of the same table with few fields, the timestamp among them, through which ids are
        ///     read.
        ///   - overlap: how far before the last known timestamp each search begins, to include late commits. The
        ///     default is two minutes.
        ///   - reconcile: after how many polls all ids are compared. The default is 20.
        public static func stamp(
            _ field: String,
            scan layout: String? = nil,
            overlap: Duration = .seconds(120),
            reconcile: Int = 20
        ) -> LiveWatch {
            LiveWatch(method: .stamp(field: field, layout: layout, overlap: overlap, reconcile: max(1, reconcile)))
        }

        /// ``stamp(_:scan:overlap:reconcile:)-(String,_,_,_)``, with the field given by its coding key.
        public static func stamp(
            _ field: some CodingKey,
            scan layout: String? = nil,
            overlap: Duration = .seconds(120),
            reconcile: Int = 20
        ) -> LiveWatch {
            stamp(field.stringValue, scan: layout, overlap: overlap, reconcile: reconcile)
        }

        /// Reads a table in which the file logs its commits, as a script triggered by `OnWindowTransaction` can do, and
        /// compares the ids and modIds of the query's records when there are new entries. What the log misses (direct
        /// writes by the Data API and OData, Truncate Table) is found by the next reconciliation.
        ///
        /// - Parameters:
        ///   - layout: the log's layout.
        ///   - serial: the log's field with a number that rises with each entry.
        ///   - reconcile: after how many polls all ids are compared regardless of the log. The default is 20.
        public static func log(_ layout: String, serial: String, reconcile: Int = 20) -> LiveWatch {
            LiveWatch(method: .log(layout: layout, serial: serial, reconcile: max(1, reconcile)))
        }

        /// ``log(_:serial:reconcile:)-(String,_,_)``, with the layout given by the type of the log's entries and the
        /// number by its coding key.
        public static func log<Entry: LayoutRecord>(
            _ entry: Entry.Type,
            serial: Entry.CodingKeys,
            reconcile: Int = 20
        ) -> LiveWatch {
            log(Entry.layout, serial: serial.stringValue, reconcile: reconcile)
        }

        /// Runs a script that returns the ids and modIds of the query's records in their order as JSON,
        /// `[[17, 3], [18, 0]]`, then reads the records that have changed. The list is consistent, as it is one answer;
        /// in return the query must be written twice, here and in the script.
        public static func script(_ name: String, parameter: String? = nil) -> LiveWatch {
            LiveWatch(method: .script(name: name, parameter: parameter))
        }
    }
}
