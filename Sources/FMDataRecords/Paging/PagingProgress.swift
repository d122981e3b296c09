public import FMDataCore

extension DataAPI {
    /// The progress of reading all records, up to and including one page.
    public struct PagingProgress: Hashable, Sendable {
        /// The number of records so far, including this page.
        public var delivered: Int
        /// The number of all records to come, as the server counted them at the beginning. More or fewer may come when
        /// others insert and delete meanwhile. `nil` when the server does not count, as FileMaker Server 17.
        public var total: Int?
        /// The changes noticed since the page before. Empty if no change was noticed.
        public var drift: [PageDrift]
        /// The number of changes noticed so far.
        public var driftCount: Int
        /// The number of records of the found set that have no key and therefore do not come. `nil` when it is not
        /// known: when the mode uses no key, or the server does not count.
        public var withoutKey: Int?
        /// The number of records of the whole table, found or not, as the server counted them for this page. A smaller
        /// number than with an earlier page means that records were deleted, whatever was inserted. `nil` when the
        /// server does not count, as FileMaker Server 17, and when it answered that there is no record (401 for a find,
        /// 101 for a range), which carries no number.
        ///
        /// Source: Claris Data API guide, `totalRecordCount` of `dataInfo`.
        public var tableCount: Int?

        /// Creates a value, for tests and doubles; see the properties for its parts.
        public init(
            delivered: Int,
            total: Int? = nil,
            drift: [PageDrift] = [],
            driftCount: Int = 0,
            withoutKey: Int? = nil,
            tableCount: Int? = nil
        ) {
            self.delivered = delivered
            self.total = total
            self.drift = drift
            self.driftCount = driftCount
            self.withoutKey = withoutKey
            self.tableCount = tableCount
        }

        /// The part that is done, from 0 to 1; `nil` while the total is not known.
        public var fraction: Double? {
            guard let total else { return nil }
            return total > 0 ? min(1, Double(delivered) / Double(total)) : 1
        }
    }

    /// A change of the found set that was noticed between two of its pages.
    public struct PageDrift: Hashable, Sendable {
        /// What happened. More kinds may come: a `switch` over them needs a `default`.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The name of the kind.
            public let description: String

            /// Records have other places than before: ``PageDrift/places`` gives the number of places. No record that
            /// kept its order among the others was lost.
            public static let moved = Kind(description: "moved")
            /// Records came a second time and were left out: ``PageDrift/recordIds``.
            public static let repeated = Kind(description: "repeated")
            /// Records were no longer found when their turn came: ``PageDrift/recordIds``. Where pages go by a key,
            /// these ids are not known: the last page then gives in ``PageDrift/places`` the number of records that
            /// were counted at the beginning and did not come.
            public static let gone = Kind(description: "gone")
        }

        /// What happened.
        public var kind: Kind
        /// The number of places the found set moved; negative when fewer records precede the page than before. For
        /// missing records of unknown ids, their number, negative.
        public var places: Int
        /// The ids of the records that the drift is about.
        public var recordIds: [Int]

        /// Creates a value, for tests and doubles; see the properties for its parts.
        public init(_ kind: Kind, places: Int = 0, recordIds: [Int] = []) {
            self.kind = kind
            self.places = places
            self.recordIds = recordIds
        }
    }
}
