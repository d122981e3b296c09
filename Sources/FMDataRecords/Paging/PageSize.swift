package import FMDataCore
import NIOConcurrencyHelpers
import NIOCore

/// The number of records to ask for per page: as many as arrive within half a second and fit into a mebibyte.
package struct PageSize: Sendable {
    /// The page sizes that are used, unless the caller gives a fixed size.
    package static let range = 10...5_000
    static let initial = 100
    /// A page that takes less than this may grow, one that takes more must shrink.
    private static let span = TimeAmount.milliseconds(250)...TimeAmount.milliseconds(500)
    private static let maximumBytes = 1 << 20

    package private(set) var current: Int
    private let isFixed: Bool
    /// Whether a page was too large once: then pages grow by small steps.
    private var isCautious = false
    /// The rows and the time of the last page that took too long.
    private var slow: (rows: Int, took: TimeAmount)?
    /// Whether pages are slow whatever their size, as where the server sorts all records for each page.
    private var isSlowAnyway = false

    /// - Parameter current: the size that worked for the layout before.
    init(current: Int = Self.initial) {
        self.current = current
        isFixed = false
    }

    /// A fixed size, given by the caller.
    init(fixed: Int) {
        current = fixed
        isFixed = true
    }

    /// Adjusts the size to the last page.
    mutating func learned(rows: Int, of limit: Int, bytes: Int, took: TimeAmount) {
        guard !isFixed else { return }
        if bytes > Self.maximumBytes || took > Self.span.upperBound && !isSlowAnyway {
            isCautious = true
            if bytes <= Self.maximumBytes, isNoQuicker(rows, took) {
                isSlowAnyway = true
                current = max(current, slow?.rows ?? current)
            } else {
                slow = (rows, took)
                current = max(Self.range.lowerBound, current / 2)
            }
        } else if rows >= limit, took < Self.span.lowerBound, bytes * 3 / 2 <= Self.maximumBytes {
            let growth = isCautious ? 1.5 : Self.growth(bytes: bytes, took: took)
            current = min(Self.range.upperBound, Int(Double(current) * growth))
        }
    }

    /// How much larger the next page may be: as large as time and bytes of this one leave room for, and at most eight
    /// times, since a first page may have been quick by chance.
    private static func growth(bytes: Int, took: TimeAmount) -> Double {
        let roomInTime = Double(span.lowerBound.nanoseconds) / Double(max(1, took.nanoseconds))
        let roomInBytes = 0.75 * Double(maximumBytes) / Double(max(1, bytes))
        return max(1.5, min(8, roomInTime, roomInBytes))
    }

    /// Whether a page with clearly fewer rows than the last slow one took nearly as long.
    private func isNoQuicker(_ rows: Int, _ took: TimeAmount) -> Bool {
        guard let slow else { return false }
        return rows * 3 <= slow.rows * 2 && took.nanoseconds / 3 >= slow.took.nanoseconds / 4
    }

    /// Records that a page of `limit` records was too much for the server to send in time. Returns whether a smaller
    /// page is worth trying.
    mutating func tooMuch(_ limit: Int) -> Bool {
        guard !isFixed, limit > Self.range.lowerBound else { return false }
        isCautious = true
        current = max(Self.range.lowerBound, min(current, limit) / 2)
        return true
    }
}

/// The page sizes that worked before, by subject. An account period has one, shared by all reads of its database.
final class PageSizes: Sendable {
    private let sizes = NIOLockedValueBox<[String: Int]>([:])

    /// - Parameters:
    ///   - subject: the key of the pages' contents.
    ///   - fixed: a size that the caller or the configuration gives; it is neither looked up nor remembered.
    func memory(of subject: String, fixed: Int?) -> PageSizeMemory {
        PageSizeMemory(sizes: self, subject: subject, fixed: fixed)
    }

    subscript(subject: String) -> Int? {
        get { sizes.withLockedValue { $0[subject] } }
        set { sizes.withLockedValue { $0[subject] = newValue } }
    }
}

/// The page size of one subject.
package struct PageSizeMemory: Sendable {
    fileprivate let sizes: PageSizes
    fileprivate let subject: String
    fileprivate let fixed: Int?

    package var size: PageSize {
        fixed.map(PageSize.init(fixed:)) ?? PageSize(current: sizes[subject] ?? PageSize.initial)
    }

    func learned(_ size: PageSize) {
        if fixed == nil { sizes[subject] = size.current }
    }
}

extension AccountPeriod {
    /// The page sizes of the layouts.
    var pageSizes: PageSizes { attachments.value { PageSizes() } }
}

extension DataAPI.Database {
    /// The size of pages: the one that the caller gives, that of the configuration, or the one that has worked before.
    ///
    /// - Parameter subject: the key of the pages' contents.
    package func pageSize(of subject: String, in accountPeriod: AccountPeriod, _ given: Int? = nil) -> PageSizeMemory {
        accountPeriod.pageSizes.memory(of: subject, fixed: given ?? server.config.pageSize.map { max(1, $0) })
    }
}
