// Criteria are in US form whatever form values travel in: `dateformats` does not reach them.

extension FMDate: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { text(.us) }
}

extension FMTime: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { text(.us) }
}

extension FMTimestamp: DataAPI.FindValue {
    /// The value as a find takes it; `nil` when there is no such text.
    public var findText: String? { text(.us) }
}
