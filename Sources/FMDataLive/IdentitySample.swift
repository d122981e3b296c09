import FMDataCore
import FMDataRecords
import OpenCombine

/// Digests of the known records with the greatest ids, used to detect another file in place of this one. After a backup
/// was restored, the host assigns the same ids again, to other records, possibly with equal modIds. If one of the
/// sampled records is still the same, so are all known ones with lesser ids, which are older.
struct IdentitySample: Hashable, Sendable {
    /// How many records are sampled. Few are enough, since the records created after the backup have the greatest ids.
    static let size = 10

    struct Entry: Hashable, Sendable {
        let version: DataAPI.RecordVersion
        /// One number per field: 12 bits of a digest of its name, then 20 bits of a digest of its name and value.
        let fields: [UInt32]
    }

    /// In rising order of their ids.
    private(set) var entries: [Entry] = []

    init(entries: [Entry] = []) {
        self.entries = entries
    }

    /// Adds records that were read, if they are among those with the greatest ids.
    ///
    /// - Parameter size: how many of them the sample has.
    mutating func insert<R: RecordFields>(
        _ records: [DataAPI.TypedLayout<R>.Record],
        _ encoder: FMEncoder,
        keeping size: Int = Self.size
    ) {
        let least = entries.count < size ? nil : entries.first?.version.recordId
        let candidates = records.filter { record in least.map { record.recordId >= $0 } ?? true }
            .sorted { $0.recordId < $1.recordId }
            .suffix(size)
        let new = candidates.compactMap { Entry($0, encoder) }
        guard !new.isEmpty else { return }
        let ids = Set(new.map(\.version.recordId))
        let all = entries.filter { !ids.contains($0.version.recordId) } + new
        entries = Array(all.sorted { $0.version.recordId < $1.version.recordId }.suffix(size))
    }

    mutating func remove(_ gone: Set<Int>) { entries.removeAll { gone.contains($0.version.recordId) } }

    /// Whether none of the sampled records is there any more, so that nothing shows whose records the others are.
    ///
    /// - Parameters:
    ///   - count: how many records are known.
    ///   - isThere: whether the record with that id is there, in the known version or a later one.
    func provesNothing(among count: Int, _ isThere: (_ id: Int) -> Bool) -> Bool {
        !entries.isEmpty && count > entries.count && !entries.contains { isThere($0.version.recordId) }
    }

    /// Whether one of these records has the known version but other contents, so that it is another record.
    ///
    /// - Parameter layout: tells which fields change by a commit alone; a difference in one of these is enough. If it
    ///   is `nil`, more than half of a record's fields must differ, since calculations and related fields change
    ///   without a commit.
    func isContradicted<R: RecordFields>(
        by records: [DataAPI.TypedLayout<R>.Record],
        _ encoder: FMEncoder,
        in layout: DataAPI.Layout.LayoutMetaData?
    ) -> Bool {
        guard let layout else { return holds(another: { $0.different > $0.same }, among: records, encoder) }
        return holds(another: { $0.different > 0 }, among: records, encoder, by: layout.changesByCommitAlone)
    }

    /// Whether one of these records has the known version but differs in any field.
    fileprivate func differs<R: RecordFields>(
        from records: [DataAPI.TypedLayout<R>.Record],
        _ encoder: FMEncoder
    ) -> Bool {
        holds(another: { $0.different > 0 }, among: records, encoder)
    }

    private func holds<R: RecordFields>(
        another isOther: (Entry.Comparison) -> Bool,
        among records: [DataAPI.TypedLayout<R>.Record],
        _ encoder: FMEncoder,
        by isMeant: (_ field: String) -> Bool = { _ in true }
    ) -> Bool {
        var known: [DataAPI.RecordVersion: Entry] = [:]
        for entry in entries { known[entry.version] = entry }
        return records.contains { record in
            guard let old = known[record.version], let new = Entry(record, encoder, of: isMeant) else { return false }
            return isOther(new.compared(to: old))
        }
    }
}

extension IdentitySample.Entry {
    /// - Parameter isMeant: whether to include the field with that name.
    /// - Returns: `nil` for a record that cannot be encoded.
    fileprivate init?<R: Encodable, P>(
        _ record: DataAPI.Record<R, P>,
        _ encoder: FMEncoder,
        of isMeant: (String) -> Bool = { _ in true }
    ) {
        guard case .object(let members)? = try? encoder.wireValue(of: record.fieldData, .fields) else { return nil }
        version = record.version
        fields = members.filter { isMeant($0.name) && $0.value.fieldValue.text != "<No Access>" }
            .map { member in
                let name = member.name.utf8.fnv1a()
                let value = member.value.json.fnv1a(from: name)
                return UInt32(truncatingIfNeeded: name) << 20 | UInt32(truncatingIfNeeded: value) & 0xF_FFFF
            }
            .sorted()
    }

    /// How many of the fields that both entries have are equal, and how many differ.
    fileprivate struct Comparison {
        var same = 0
        var different = 0
    }

    /// Leaves out fields whose names have the same digest.
    fileprivate func compared(to other: Self) -> Comparison {
        let others = Dictionary(grouping: other.fields) { $0 >> 20 }
        return Dictionary(grouping: fields) { $0 >> 20 }.reduce(into: Comparison()) { comparison, field in
            guard field.value.count == 1, let other = others[field.key], other.count == 1 else { return }
            if field.value == other { comparison.same += 1 } else { comparison.different += 1 }
        }
    }
}

extension DataAPI.Layout.LayoutMetaData {
    /// Whether the field's value changes only by a commit of the record, with a new modId.
    fileprivate func changesByCommitAlone(_ name: String) -> Bool {
        let name = DataAPIName.plain(name).lowercased()
        guard let field = fieldMetaData.first(where: { $0.name.lowercased() == name }) else { return false }
        // A container field's value is a URL, which is a new one in each answer.
        return field.type == .normal && !field.global && field.result != .container && !field.name.contains("::")
    }
}

extension DataAPI.FoundSet {
    /// Whether the host has another file than the one the sample was taken from. Asks for the sampled records by their
    /// ids, the greatest first, until one is the same or another one: usually that is the first.
    ///
    /// - Parameter count: how many records are known.
    func isOfOtherFile(than sample: IdentitySample, among count: Int) -> AnyPublisher<Bool, FMRest.APIError> {
        isOfOtherFile(than: sample, sample.entries[...], among: count, present: [])
    }

    /// - Parameters:
    ///   - entries: those that were not asked for yet.
    ///   - present: the ids of those that are there, in a later version.
    private func isOfOtherFile(
        than sample: IdentitySample,
        _ entries: ArraySlice<IdentitySample.Entry>,
        among count: Int,
        present: Set<Int>
    ) -> AnyPublisher<Bool, FMRest.APIError> {
        guard let known = entries.last?.version else {
            return .of(sample.provesNothing(among: count, present.contains))
        }
        let encoder = layout.layout.encoder
        return attempt(known.recordId)
            // After the call has ended, so that its session is free for another call.
            .last()
            .followed { page in
                let version = page.attempts.first?.version
                // In one and the same file a modId never falls.
                if let version, version.modId < known.modId { return .of(true) }
                guard let record = page.attempts.first?.record, version == known else {
                    let present = version.map { present.union([$0.recordId]) } ?? present
                    return isOfOtherFile(than: sample, entries.dropLast(), among: count, present: present)
                }
                // Usually nothing differs, and the layout's metadata is not needed.
                guard sample.differs(from: [record], encoder) else { return .of(false) }
                return shownLayout.described { .of(sample.isContradicted(by: [record], encoder, in: $0)) }
            }
            .eraseToAnyPublisher()
    }

    /// One record, by its id; an empty page when there is none, or none that the account may see.
    func attempt(_ id: Int) -> AnyPublisher<AttemptPage<R>, FMRest.APIError> {
        layout.layout.attempt(id, as: R.self, DataAPI.RecordQuery(options.ofOneRecord))
            .replaceError(of: .recordAccessDenied, with: AttemptPage())
    }

    /// The layout that determines the records' fields.
    var shownLayout: DataAPI.Layout {
        options.layoutResponse.map { layout.layout.database.addLayout($0) } ?? layout.layout
    }
}

extension IdentitySample {
    /// All its numbers, for a checksum.
    var bytes: [UInt8] {
        entries.flatMap { entry in
            let version = entry.version
            let numbers = [version.recordId, version.modId, entry.fields.count] + entry.fields.map(Int.init)
            return numbers.flatMap { number in withUnsafeBytes(of: Int64(number).littleEndian, Array.init) }
        }
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
