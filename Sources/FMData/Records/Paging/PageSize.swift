import NIOCore

/// How many records to ask for at a time: as many as come in a moment, and fit into a mebibyte.
struct PageSize: Sendable {
    /// What is asked for at all, unless the caller says how many.
    static let range = 10...5_000
    static let initial = 100
    /// A page that takes less may grow, one that takes more has to shrink.
    private static let span = TimeAmount.milliseconds(250)...TimeAmount.milliseconds(500)
    private static let maximumBytes = 1 << 20

    private(set) var current: Int
    private let isFixed: Bool
    /// The last page that took too long.
    private var slow: (rows: Int, took: TimeAmount)?
    /// Whether pages are slow whatever their size, as where the server sorts all records for each.
    private var isSlowAnyway = false

    /// - Parameter current: what has proved itself for the layout.
    init(current: Int = Self.initial) {
        self.current = current
        isFixed = false
    }

    /// As many as the caller says.
    init(fixed: Int) {
        current = fixed
        isFixed = true
    }

    /// Takes in what a page has come to.
    mutating func learned(rows: Int, of limit: Int, bytes: Int, took: TimeAmount) {
        guard !isFixed else { return }
        if bytes > Self.maximumBytes || took > Self.span.upperBound && !isSlowAnyway {
            if bytes <= Self.maximumBytes, isNoQuicker(rows, took) {
                isSlowAnyway = true
                current = max(current, slow?.rows ?? current)
            } else {
                slow = (rows, took)
                current = max(Self.range.lowerBound, current / 2)
            }
        } else if rows >= limit, took < Self.span.lowerBound, bytes * 3 / 2 <= Self.maximumBytes {
            current = min(Self.range.upperBound, current * 3 / 2)
        }
    }

    /// Whether a page of clearly fewer rows than the last slow one took nearly as long.
    private func isNoQuicker(_ rows: Int, _ took: TimeAmount) -> Bool {
        guard let slow else { return false }
        return rows * 3 <= slow.rows * 2 && took.nanoseconds / 3 >= slow.took.nanoseconds / 4
    }

    /// A page of so many was more than the server could send in time. Returns whether a smaller one is worth trying.
    mutating func tooMuch(_ limit: Int) -> Bool {
        guard !isFixed, limit > Self.range.lowerBound else { return false }
        current = max(Self.range.lowerBound, min(current, limit) / 2)
        return true
    }
}
