extension DataAPI {
    /// How many records a write to a whole found set may change.
    ///
    /// A find that finds more than intended is an expensive mistake: so the number is given beforehand and compared
    /// with the host's count before anything is written.
    public struct ExpectedCount: Hashable, Sendable {
        private let range: ClosedRange<Int>

        /// Exactly this many records.
        public static func exactly(_ count: Int) -> ExpectedCount {
            ExpectedCount(range: max(0, count)...max(0, count))
        }

        /// This many records at most, including none.
        public static func atMost(_ count: Int) -> ExpectedCount { ExpectedCount(range: 0...max(0, count)) }
    }
}

extension DataAPI.ExpectedCount: CustomStringConvertible {
    /// The number in words.
    public var description: String {
        range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "at most \(range.upperBound)"
    }

    func allows(_ count: Int) -> Bool { range.contains(count) }
}

extension FMRest.APIError {
    static func countDiffers(_ expected: DataAPI.ExpectedCount, found count: Int) -> FMRest.APIError {
        FMRest.APIError(
            .countDiffers,
            reason:
                "The host finds \(count) record\(count == 1 ? "" : "s"), and \(expected) were expected. Nothing was written.",
            hint: "Look at the find; a dry run tells which records are meant."
        )
    }

    static func countChanged(from counted: Int, to listed: Int) -> FMRest.APIError {
        FMRest.APIError(
            .countDiffers,
            reason: "\(counted) records were counted, and then \(listed) were listed: others change the found set. "
                + "Nothing was written."
        )
    }
}
