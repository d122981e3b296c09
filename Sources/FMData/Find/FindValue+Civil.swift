// Criteria are in US form whatever form values travel in: `dateformats` does not reach them.

extension FMDate: DataAPI.FindValue {
    public var findText: String? { text(.us) }
}

extension FMTime: DataAPI.FindValue {
    public var findText: String? { text(.us) }
}

extension FMTimestamp: DataAPI.FindValue {
    public var findText: String? { text(.us) }
}
