/// What the records with the greatest ids hold, by which they are known again: ids that a restored backup gives out again are those of
/// other records, and may come with equal modIds.
struct IdentitySample: Hashable, Sendable {
    /// As many are enough: those that were created after the backup have the greatest ids.
    static let size = 10

    struct Entry: Hashable, Sendable {
        let version: DataAPI.RecordVersion
        /// A digest of each field with its name.
        let fields: [UInt32]
    }

    /// Rising by their ids.
    private(set) var entries: [Entry] = []

    init(entries: [Entry] = []) {
        self.entries = entries
    }

    /// Takes in what was read of records, as far as these are among those with the greatest ids.
    mutating func insert<R: RecordFields>(_ records: [DataAPI.TypedLayout<R>.Record], _ encoder: FMEncoder) {
        let least = entries.count < Self.size ? nil : entries.first?.version.recordId
        let candidates = records.filter { record in least.map { record.recordId >= $0 } ?? true }
            .sorted { $0.recordId < $1.recordId }
            .suffix(Self.size)
        let new = candidates.compactMap { Entry($0, encoder) }
        guard !new.isEmpty else { return }
        let ids = Set(new.map(\.version.recordId))
        let all = entries.filter { !ids.contains($0.version.recordId) } + new
        entries = Array(all.sorted { $0.version.recordId < $1.version.recordId }.suffix(Self.size))
    }

    mutating func remove(_ gone: Set<Int>) { entries.removeAll { gone.contains($0.version.recordId) } }

    /// Whether one of these records, in the version that is known, is another one: most of its fields are not what they were.
    /// Unstored calculations and related fields change without a commit, so that a part of them may.
    func isContradicted<R: RecordFields>(by records: [DataAPI.TypedLayout<R>.Record], _ encoder: FMEncoder) -> Bool {
        var known: [DataAPI.RecordVersion: Entry] = [:]
        for entry in entries { known[entry.version] = entry }
        return records.contains { record in
            guard let old = known[record.version], let new = Entry(record, encoder) else { return false }
            let shared = Set(old.fields).intersection(new.fields).count
            return 2 * shared < min(old.fields.count, new.fields.count)
        }
    }
}

extension IdentitySample.Entry {
    /// `nil` for a record that cannot be written.
    fileprivate init?<R: Encodable, P>(_ record: DataAPI.Record<R, P>, _ encoder: FMEncoder) {
        guard case .object(let members)? = try? encoder.wireValue(of: record.fieldData, .fields) else { return nil }
        version = record.version
        fields = members.map { member in
            UInt32(truncatingIfNeeded: member.value.json.fnv1a(from: member.name.utf8.fnv1a()))
        }
        .sorted()
    }
}

extension IdentitySample: Codable {
    private enum EntryKeys: CodingKey {
        case recordId, modId, fields
    }

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
            let entry = try list.nestedContainer(keyedBy: EntryKeys.self)
            entries.append(
                Entry(
                    version: DataAPI.RecordVersion(
                        recordId: try entry.decode(Int.self, forKey: .recordId),
                        modId: try entry.decode(Int.self, forKey: .modId)
                    ),
                    fields: try entry.decode([UInt32].self, forKey: .fields)
                )
            )
        }
    }

    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for entry in entries {
            var container = list.nestedContainer(keyedBy: EntryKeys.self)
            try container.encode(entry.version.recordId, forKey: .recordId)
            try container.encode(entry.version.modId, forKey: .modId)
            try container.encode(entry.fields, forKey: .fields)
        }
    }
}
