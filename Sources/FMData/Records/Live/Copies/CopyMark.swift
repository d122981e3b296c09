extension DataAPI {
    /// How far a copy of records has followed its query. Together with the copy's ids and modIds it is all that another
    /// run needs to continue.
    ///
    /// It takes a few hundred bytes as JSON, for any number of records. It contains no field values, only digests of
    /// the fields of ten records, to detect another file after a backup was restored.
    public struct CopyMark: Hashable, Sendable {
        /// A digest of the query, its server, database and layout; it does not reveal what is searched for.
        let query: UInt64
        /// What the poll strategy stores between runs.
        let memory: PollMemory
        let sample: IdentitySample
    }
}

extension DataAPI.CopyMark: Codable {
    private enum CodingKeys: CodingKey {
        case format, query, memory, sample
    }

    /// Reads what ``encode(to:)`` wrote. Throws for a format that this version does not know.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let format = try container.decode(Int.self, forKey: .format)
        guard format == 1, let query = UInt64(try container.decode(String.self, forKey: .query), radix: 16) else {
            throw DecodingError.dataCorruptedError(
                forKey: .format,
                in: container,
                debugDescription: "A mark of format \(format), and 1 is the only one that is known here."
            )
        }
        self.query = query
        memory = try container.decode(PollMemory.self, forKey: .memory)
        sample = try container.decode(IdentitySample.self, forKey: .sample)
    }

    /// Writes the mark.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: .format)
        try container.encode(String(query, radix: 16), forKey: .query)
        try container.encode(memory, forKey: .memory)
        try container.encode(sample, forKey: .sample)
    }
}
