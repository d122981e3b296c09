extension DataAPI {
    /// How far a copy of records has followed its query: with the ids and modIds of the copy all that another run needs to go on.
    ///
    /// A few hundred bytes as JSON, for any number of records. It holds no field's value: of ten records a digest of each field, by
    /// which they are known again after a backup was restored.
    public struct CopyMark: Hashable, Sendable {
        /// What the query is, and of which server and database, as a number that says nothing of what is searched for.
        let query: UInt64
        /// What the way in which changes are looked for has to remember.
        let memory: PollMemory
        let sample: IdentitySample
    }
}

extension DataAPI.CopyMark: Codable {
    private enum CodingKeys: CodingKey {
        case format, query, memory, sample
    }

    /// Reads what ``encode(to:)`` wrote. What this version does not know is an error.
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

    /// Writes it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: .format)
        try container.encode(String(query, radix: 16), forKey: .query)
        try container.encode(memory, forKey: .memory)
        try container.encode(sample, forKey: .sample)
    }
}
