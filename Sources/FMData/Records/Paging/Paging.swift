extension DataAPI {
    /// How the records of a found set are read, page after page, while others may insert, delete and edit.
    ///
    ///     people.all()                                    // .offset
    ///     orders.all(.windows(serial: .number))
    ///
    /// FileMaker counts records by their place in the found set, and places change: a record that is deleted before the next
    /// page moves all others one place forward, so that the next page would miss one. Each way deals with that in its own manner.
    ///
    /// | | needs | a record that is there all along | costs the host |
    /// |---|---|---|---|
    /// | ``offset`` | nothing | comes, or ``PageDrift`` tells that places moved | one find a page |
    /// | ``stable(by:)`` | a key: unique, never empty, never changed | comes exactly once | one find and sort a page: of all that is left by a number, of all by a text |
    /// | ``windows(serial:)`` | a whole number, else the same | comes exactly once | one find a page, no sort |
    /// | ``ids(by:on:)-(_,String?)`` | a key as for `stable` | comes exactly once | one find a page, and one for every 50 records |
    ///
    /// With ``offset`` the records come in the order of the found set, as with ``ids(by:on:)-(_,String?)``; with ``stable(by:)`` in
    /// the order of the key; with ``windows(serial:)`` in that of the serial number from window to window, and as they were created
    /// within one. Those two take no found set that is sorted.
    ///
    /// A find that takes FileMaker several calls, where ``FoundSet/calls(upTo:)`` allows them, comes on one page, and by ``offset``
    /// alone; otherwise the publisher fails with ``FMRest/APIError/Code/invalidRequest`` before anything is sent.
    public struct Paging<R: RecordFields>: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case offset
            case stable(key: String)
            case windows(key: String)
            case ids(key: String, skinny: String?)
        }

        let kind: Kind

        /// By the place in the found set. The default.
        ///
        /// Pages overlap by one record. When the first record of a page is not the last one of the page before, the found set
        /// has moved: the publisher goes back to a record that it knows and on from there, leaving out what was published. It
        /// says so in ``PagingProgress/drift`` and, as a warning, in the log. It remembers the ids of the last 10,000 records;
        /// where none of them is found again it fails with ``FMRest/APIError/Code/pagesDrifted``, since a gap would be silent.
        ///
        /// One thing goes unnoticed: the last record of a page is moved on by an edit of what is sorted by, and as many records
        /// before it disappear. Without a sort order records do not move, so that deletes and inserts are all there is.
        public static var offset: Paging<R> { Paging(kind: .offset) }

        /// By the value of a key, ascending: each page begins where the one before has ended.
        ///
        /// The key has to be unique, filled in, and not to change; let it be indexed. Any field will do: numbers, words, UUIDs,
        /// dates. Before the first page it is asked what the greatest key is.
        ///
        /// Where that is a number, pages go from number to number, and inserts beyond the greatest one of the beginning are not
        /// read. FileMaker compares texts word by word, and a UUID with its hyphens is five words: pages of texts go by their
        /// place in the order of the key, with what ``offset`` does about places that move. As keys do not change, records only
        /// come and go there.
        ///
        /// Records without a key cannot be found by it: ``PagingProgress/withoutKey`` counts them. When fewer came in the end than
        /// were counted, since they were deleted or their key was changed, the last page tells it as ``PageDrift/Kind/gone``, and
        /// so does the log.
        ///
        /// - Parameter key: a field of the record's type. Declare it as a type that holds its values exactly.
        public static func stable(by key: R.CodingKeys) -> Paging<R> { Paging(kind: .stable(key: key.stringValue)) }

        /// By ranges of a serial number, from the least to the greatest of the beginning: for large tables.
        ///
        /// A range is as wide as a page, wider where few records are in it: a gap of a million numbers takes some ten calls.
        /// Numbers that are not whole may not be found. When fewer records came in the end than were counted, for that or since
        /// they were deleted, the last page tells it as ``PageDrift/Kind/gone``, and so does the log. Records without a number
        /// are counted by ``PagingProgress/withoutKey``.
        ///
        /// - Parameter serial: a number field that is unique, filled in and not changed.
        public static func windows(serial: R.CodingKeys) -> Paging<R> {
            Paging(kind: .windows(key: serial.stringValue))
        }

        /// All ids first, then the records, 50 at a time by their keys: those of one moment, in the order of the found set.
        ///
        /// The ids are read as ``offset`` reads records; they are kept, with the keys, to the end. A record that is then not
        /// found by its key any more was deleted, or its key was changed; it is told in ``PagingProgress/drift``. What no longer
        /// fits the find is read all the same.
        ///
        /// - Parameters:
        ///   - key: a field that is unique, filled in and not changed. Any text will do.
        ///   - layout: a layout of the same table that shows the key and little else, to read the ids through. `nil`, the default,
        ///     is the layout itself, whose fields are then read twice.
        public static func ids(by key: R.CodingKeys, on layout: String? = nil) -> Paging<R> {
            Paging(kind: .ids(key: key.stringValue, skinny: layout))
        }

        /// All ids first, then the records, by their keys, as with the name of the layout.
        public static func ids(by key: R.CodingKeys, on layout: some LayoutKey) -> Paging<R> {
            ids(by: key, on: layout.layoutName)
        }
    }
}
