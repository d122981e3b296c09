public import FMDataCore

extension DataAPI {
    /// How the records of a found set are read, page after page, while others may insert, delete and edit records.
    ///
    ///     people.all()                                    // .offset
    ///     orders.all(.windows(serial: .number))
    ///
    /// FileMaker counts records by their place in the found set, and places change: a record that is deleted before the
    /// next page is read moves all later records one place forward, so that the next page would skip one. Each mode
    /// handles this differently:
    ///
    /// | | needs | a record that exists all along | costs the host |
    /// |---|---|---|---|
    /// | ``offset`` | nothing | comes, or ``PageDrift`` reports that places moved | one find a page |
    /// | ``stable(by:)`` | a key: unique, never empty, never changed | comes exactly once | one find and sort a page |
    /// | ``windows(serial:)`` | a whole number, else the same | comes exactly once | one find a page, no sort |
    /// | ``ids(by:on:)`` | a key as `stable` | comes exactly once | one find a page, one per 50 records |
    ///
    /// With ``stable(by:)`` the host sorts the records that are left when the key is a number, and all records when it
    /// is a text.
    ///
    /// With ``offset`` and ``ids(by:on:)`` the records come in the order of the found set; with
    /// ``stable(by:)`` in the order of the key; with ``windows(serial:)`` in the order of the serial number from window
    /// to window, and in the order of creation within a window. ``stable(by:)`` and ``windows(serial:)`` reject a found
    /// set that is sorted.
    public struct Paging<R: RecordFields>: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case offset
            case stable(key: String)
            case windows(key: String)
            case ids(key: String, skinny: String?)
        }

        let kind: Kind

        /// Reads by place in the found set. This is the default.
        ///
        /// Pages overlap by one record. If the first record of a page is not the last one of the page before, the found
        /// set has moved: the publisher goes back to a known record and reads on from there, leaving out records that
        /// were published. It reports this in ``PagingProgress/drift`` and as a warning in the log. It remembers the
        /// ids of the last 10,000 records; if none of them is found again, it fails with
        /// ``FMRest/APIError/Code/pagesDrifted``, because it would skip records without notice.
        ///
        /// One change is not noticed: an edit of a sort field moves the last record of a page to a later place, and as
        /// many records before it disappear. Without a sort order records do not move, so only deletes and inserts
        /// matter.
        public static var offset: Paging<R> { Paging(kind: .offset) }

        /// Reads by the value of a key, ascending: each page begins where the page before ended.
        ///
        /// The key must be unique, never empty and never changed, and should be indexed. Any field will do: numbers,
        /// words, UUIDs, dates. Before the first page, the greatest key is requested.
        ///
        /// If the greatest key is a number, pages go from number to number, and records inserted beyond that number are
        /// not read. FileMaker compares texts word by word, and a UUID with its hyphens is five words: pages of texts
        /// go by their place in the order of the key, and places that move are handled as by ``offset``. Keys do not
        /// change, so records only appear and disappear there.
        ///
        /// Records without a key cannot be found by it: ``PagingProgress/withoutKey`` counts them. If fewer records
        /// came in the end than were counted, because they were deleted or their key changed, the last page reports it
        /// as ``PageDrift/Kind/gone``, and so does the log.
        ///
        /// - Parameter key: a field of the record's type. Declare it as a type that holds its values exactly.
        public static func stable(by key: R.CodingKeys) -> Paging<R> { Paging(kind: .stable(key: key.stringValue)) }

        /// Reads by ranges of a serial number, from the least to the greatest number at the beginning: for large
        /// tables.
        ///
        /// A range is as wide as a page, wider where few records are in it: a gap of a million numbers takes some ten
        /// calls. Numbers that are not whole may not be found. If fewer records came in the end than were counted, for
        /// that reason or because they were deleted, the last page reports it as ``PageDrift/Kind/gone``, and so does
        /// the log. ``PagingProgress/withoutKey`` counts the records without a number.
        ///
        /// - Parameter serial: a number field that is unique, never empty and never changed.
        public static func windows(serial: R.CodingKeys) -> Paging<R> {
            Paging(kind: .windows(key: serial.stringValue))
        }

        /// Reads all ids first, then the records by their keys, 50 at a time: the records of one moment, in the order
        /// of the found set.
        ///
        /// The ids are read as ``offset`` reads records. Ids and keys stay in memory until the end. A record that is
        /// not found by its key later was deleted, or its key changed; ``PagingProgress/drift`` reports it. Records
        /// that no longer match the find are read all the same.
        ///
        /// - Parameters:
        ///   - key: a field that is unique, never empty and never changed. Any text will do.
        ///   - layout: a layout of the same table that shows the key and little else, to read the ids. With `nil`, the
        ///     default, they are read through the layout of the records, so that its fields are read twice.
        public static func ids(by key: R.CodingKeys, on layout: (any LayoutKey)? = nil) -> Paging<R> {
            Paging(kind: .ids(key: key.stringValue, skinny: layout?.layoutName))
        }
    }
}
