extension DataAPI {
    /// How far the reading of all records has come, with the records of a page.
    public struct PagingProgress: Hashable, Sendable {
        /// Records so far, those of this page included.
        public var delivered: Int
        /// Records to come in all, as the server counted them at the beginning. More or fewer may come when others insert and
        /// delete meanwhile. `nil` when the server does not count, as FileMaker Server 17.
        public var total: Int?
        /// What moved since the page before, as far as it was noticed. Empty means that places have not moved.
        public var drift: [PageDrift]
        /// How often something has moved so far.
        public var driftCount: Int
        /// Records of the found set that have no key, and therefore do not come. `nil` when that is not known: when paging goes
        /// by no key, or the server does not count.
        public var withoutKey: Int?
        /// Records of the whole table, found or not, as the server counted them with the answer that brought this page: fewer than
        /// with a page before means that records were deleted, whatever else was inserted. `nil` when the server does not count, as
        /// FileMaker Server 17, and when its answer was that there is no record (401 of a find, 101 of a range), which says no
        /// number.
        ///
        /// Source: Claris Data API guide, `totalRecordCount` of `dataInfo`.
        public var tableCount: Int?

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

        /// The part that is done, from 0 to 1; `nil` while the whole is not known.
        public var fraction: Double? {
            guard let total else { return nil }
            return total > 0 ? min(1, Double(delivered) / Double(total)) : 1
        }
    }

    /// A change of the found set between two of its pages that was noticed.
    public struct PageDrift: Hashable, Sendable {
        /// What happened. More kinds may come: a `switch` over them needs a `default`.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The name of the kind.
            public let description: String

            /// Records have other places than before: ``PageDrift/places`` says by how many. No record that kept its place
            /// among the others was lost by it.
            public static let moved = Kind(description: "moved")
            /// Records came a second time and were left out: ``PageDrift/recordIds``.
            public static let repeated = Kind(description: "repeated")
            /// Records were not found any more when it was their turn: ``PageDrift/recordIds``. Where pages go by a key, nobody
            /// knows which: the last page then tells by ``PageDrift/places`` how many of those that were counted at the beginning
            /// did not come.
            public static let gone = Kind(description: "gone")
        }

        /// What happened.
        public var kind: Kind
        /// By how many places the found set moved: less than 0 when there are fewer records before the page than there were. Of
        /// records that are gone, and are not known, their number, less than 0.
        public var places: Int
        /// The records it is about.
        public var recordIds: [Int]

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(_ kind: Kind, places: Int = 0, recordIds: [Int] = []) {
            self.kind = kind
            self.places = places
            self.recordIds = recordIds
        }
    }
}
