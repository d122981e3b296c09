extension DataAPI {
    /// How a live query looks after its records.
    ///
    ///     people.find { $0(.city) == "Calgary" }.live(DataAPI.LiveOptions(every: .seconds(2) ... .seconds(30)))
    ///
    /// Queries that are equal in all of this, over the same records of the same type, share their looks.
    public struct LiveOptions: Hashable, Sendable {
        /// How changes are looked for. The default is ``LiveWatch/automatic``.
        public var watch: LiveWatch
        /// What of a record can change without a commit of it, and whether that is looked for. The default is not.
        public var related: LiveRelated
        /// Whether a commit that leaves the contents as they were is no change: an import, a write of the same values. The default
        /// is that it is one.
        public var removeDuplicates: Bool
        /// How long the pauses between two looks are: the shortest after a change, up to the longest when nothing happens. The
        /// default is 5 to 60 seconds. A host that has much to do for a look is given longer pauses; see ``restFactor``.
        public var every: ClosedRange<Duration>
        /// A pause is at least so many times as long as the host has worked for the look before it, and an hour at most. The
        /// default is 10: a query then takes a tenth of one session. Where that makes pauses longer than ``every`` allows,
        /// the log says so, once. 0 leaves it to ``every``.
        public var restFactor: Double
        /// How long the last value is kept when nobody listens, before all is dropped. The default is 10 seconds.
        public var linger: Duration
        /// How long looks may fail in passing before the query fails. `nil`, the default, is for ever: the status tells.
        public var patience: Duration?
        /// How long the host must go on saying that the query cannot be answered, before it fails: that a layout, a table, a field
        /// or a script is missing, that the script of ``LiveWatch/script(_:parameter:)`` has failed, that privileges are lost or
        /// that it does not know what is asked for; a gateway that access is denied; or none of several records can be decoded.
        /// Somebody may be working on the file; ``LiveQuery/status`` tells meanwhile. The default is 60 seconds.
        public var givesUpAfter: Duration
        /// The most records that ``LiveWatch/reread`` reads again each time: a query that has more fails. The default is
        /// 5,000. All other ways are for any number of records.
        public var maximumRecords: Int

        /// See the properties for their meaning.
        public init(
            watch: LiveWatch = .automatic,
            related: LiveRelated = .ignore,
            removeDuplicates: Bool = false,
            every: ClosedRange<Duration> = .seconds(5) ... .seconds(60),
            linger: Duration = .seconds(10),
            patience: Duration? = nil,
            maximumRecords: Int = 5000,
            givesUpAfter: Duration = .seconds(60),
            restFactor: Double = 10
        ) {
            self.watch = watch
            self.related = related
            self.removeDuplicates = removeDuplicates
            self.every = every
            self.linger = linger
            self.patience = patience
            self.maximumRecords = maximumRecords
            self.givesUpAfter = givesUpAfter
            self.restFactor = restFactor
        }
    }

    /// Whether a live query sees what changes without a commit of its records: rows of portals, unstored calculations, related
    /// fields.
    public enum LiveRelated: Hashable, Sendable {
        /// It does not.
        case ignore
        /// Every so many looks the records are read again and compared by their contents.
        case reread(every: Int)
        /// The records are read again and compared by their contents whenever a record of this layout, on which the related table
        /// is, has come, changed or gone.
        case watch(layout: String)
    }

    /// A way to look for changes. FileMaker announces none, so each is a question that is asked again and again; they differ in
    /// what it costs the host and in what they miss.
    public struct LiveWatch: Hashable, Sendable {
        enum Way: Hashable, Sendable {
            case automatic, reread
            case scan(layout: String?, key: String?)
            case stamp(field: String, layout: String?, overlap: Duration, reconcile: Int)
            case log(layout: String, serial: String, reconcile: Int)
            case script(name: String, parameter: String?)
        }

        let way: Way

        /// What needs nothing in the file: up to 500 records are read again each time, as by ``reread``; of more the ids and
        /// modIds are compared, as by ``scan(_:key:)-(String,String?)`` through the query's own layout. ``Freshness/watch`` says
        /// which. Name a layout with few fields, or a stamp, for large tables: none is ever guessed.
        public static let automatic = LiveWatch(way: .automatic)

        /// Reads all records again, portals and calculations included.
        public static let reread = LiveWatch(way: .reread)

        /// Reads the ids and modIds of all records through a layout of the same table that has few fields and no portal, and then
        /// the records that have changed. Misses what changes without a commit of the record: unstored calculations, portals.
        ///
        /// - Parameters:
        ///   - layout: the layout with few fields.
        ///   - key: a field of that layout and of the query's that tells records apart: changed records are then read 50 at a
        ///     time by their keys. Without one, up to 20 are read one by one, and more of them page by page, with their
        ///     neighbours.
        public static func scan(_ layout: String, key: String? = nil) -> LiveWatch {
            LiveWatch(way: .scan(layout: layout, key: key))
        }

        /// ``scan(_:key:)-(String,String?)``, by a layout key.
        public static func scan(_ layout: some LayoutKey, key: String? = nil) -> LiveWatch {
            scan(layout.layoutName, key: key)
        }

        /// ``scan(_:key:)-(String,String?)``, with the key by its coding key.
        public static func scan(_ layout: String, key: some CodingKey) -> LiveWatch {
            scan(layout, key: key.stringValue)
        }

        /// Finds what was modified lately by a timestamp field, and reads all ids again when the number of records says that one
        /// is gone, and now and then.
        ///
        /// The field should be a stored one that enters `Get(CurrentHostTimestamp)` by itself whenever the record is modified. The
        /// 50 newest stamps are always searched again, so that a few that lie in the future, from a clock that is wrong, hide
        /// nothing.
        ///
        /// - Parameters:
        ///   - field: the field of the query's layout.
        ///   - layout: a layout of the same table with few fields, the stamp among them, through which ids are read.
        ///   - overlap: how far before the last known stamp each look begins, for commits that came late. The default is two
        ///     minutes.
        ///   - reconcile: after how many looks all ids are compared. The default is 20.
        public static func stamp(
            _ field: String,
            scan layout: String? = nil,
            overlap: Duration = .seconds(120),
            reconcile: Int = 20
        ) -> LiveWatch {
            LiveWatch(way: .stamp(field: field, layout: layout, overlap: overlap, reconcile: max(1, reconcile)))
        }

        /// ``stamp(_:scan:overlap:reconcile:)-(String,_,_,_)``, with the field by its coding key.
        public static func stamp(
            _ field: some CodingKey,
            scan layout: String? = nil,
            overlap: Duration = .seconds(120),
            reconcile: Int = 20
        ) -> LiveWatch {
            stamp(field.stringValue, scan: layout, overlap: overlap, reconcile: reconcile)
        }

        /// Reads a table in which the file keeps a log of its commits, as a script triggered by `OnWindowTransaction` can, and
        /// compares the ids and modIds of the query's records when there are new entries. What the log misses (direct writes by
        /// the Data API and OData, Truncate Table) shows with the next reconciliation.
        ///
        /// - Parameters:
        ///   - layout: the log's layout.
        ///   - serial: its field with a number that rises with each entry.
        ///   - reconcile: after how many looks all ids are compared whatever the log says. The default is 20.
        public static func log(_ layout: String, serial: String, reconcile: Int = 20) -> LiveWatch {
            LiveWatch(way: .log(layout: layout, serial: serial, reconcile: max(1, reconcile)))
        }

        /// ``log(_:serial:reconcile:)-(String,_,_)``, by a type of the log's entries, with the number by its coding key.
        public static func log<Entry: LayoutRecord>(
            _ entry: Entry.Type,
            serial: Entry.CodingKeys,
            reconcile: Int = 20
        ) -> LiveWatch {
            log(Entry.layout, serial: serial.stringValue, reconcile: reconcile)
        }

        /// Runs a script that answers with the ids and modIds of the query's records as JSON, `[[17, 3], [18, 0]]`, in their order,
        /// and then reads the records that have changed: one consistent answer, for which the query exists twice.
        public static func script(_ name: String, parameter: String? = nil) -> LiveWatch {
            LiveWatch(way: .script(name: name, parameter: parameter))
        }
    }
}
