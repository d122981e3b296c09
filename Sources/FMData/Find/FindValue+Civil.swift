// Criteria are always in US format: `dateformats` does not apply to them.

extension FMDate: DataAPI.FindValue {
    /// The date in US format.
    public var findText: String? { text(.us) }
}

extension FMTime: DataAPI.FindValue {
    /// The time in US format.
    public var findText: String? { text(.us) }
}

extension FMTimestamp: DataAPI.FindValue {
    /// The timestamp in US format.
    public var findText: String? { text(.us) }
}
