import Foundation

extension DataAPI {
    /// How far a program has followed the changes of a query: which records it knows, and in which versions. It can be kept in a
    /// file and given to ``TypedLayout/changes(of:since:options:isolation:)`` by the next run.
    ///
    /// Keep it *after* its event has been dealt with: what happened in between then comes again (at least once), and nothing is
    /// lost. As JSON it takes three to four bytes for each record, and eleven more where ``LiveOptions/related`` is looked for. It
    /// holds no field's value.
    public struct LiveCursor: Hashable, Sendable {
        /// What the query is, and of which server and database, as a number that says nothing of what is searched for.
        let query: UInt64
        /// In the order of the ids.
        let versions: [RecordVersion]
        /// Of each record a digest of its contents, where they can change without a commit.
        var contents: [UInt64]?
        var sample = IdentitySample()

        /// How many records it knows.
        public var count: Int { versions.count }
    }
}

extension DataAPI.LiveCursor {
    /// - Parameter comparesContents: whether contents can change without a commit of their record.
    init<R>(_ state: LiveState<R>, of found: DataAPI.FoundSet<R>, comparesContents: Bool = false) {
        let encoder = found.layout.layout.encoder
        let records = state.records.sorted { $0.recordId < $1.recordId }
        query = found.fingerprint
        versions = records.map(\.version)
        if comparesContents { contents = records.map { $0.digest(encoder) } }
        sample.insert(records, encoder)
    }
}

extension DataAPI.LiveCursor: Codable {
    enum CodingKeys: CodingKey {
        case format, query, records, check, contents, sample
    }

    /// Reads what ``encode(to:)`` wrote. What this version does not know is an error, and so is a text that was cut.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let format = try container.decode(Int.self, forKey: .format)
        // Those of format 1 have no sample, and their query is that of no server.
        guard 1...2 ~= format else {
            throw DecodingError.dataCorruptedError(
                forKey: .format,
                in: container,
                debugDescription: "A cursor of format \(format), and 1 and 2 are those that are known here."
            )
        }
        let digests = try container.decodeIfPresent(String.self, forKey: .contents)
        guard let query = UInt64(try container.decode(String.self, forKey: .query), radix: 16),
            let bytes = Data(base64Encoded: try container.decode(String.self, forKey: .records)),
            let contents = Data(base64Encoded: digests ?? ""),
            UInt64(try container.decode(String.self, forKey: .check), radix: 16) == Self.check(query, bytes + contents),
            let versions = Self.versions(in: bytes),
            digests == nil || contents.count == 8 * versions.count
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .records,
                in: container,
                debugDescription: "The cursor is damaged."
            )
        }
        self.query = query
        self.versions = versions
        self.contents = digests.map { _ in Self.numbers(in: contents) }
        sample = try container.decodeIfPresent(IdentitySample.self, forKey: .sample) ?? IdentitySample()
    }

    /// Writes it: for each record the distance of its id from the one before and its modId, in as few bytes as they take.
    public func encode(to encoder: any Encoder) throws {
        var bytes = Data()
        var last = 0
        for version in versions {
            Self.write(UInt64(truncatingIfNeeded: version.recordId &- last), into: &bytes)
            Self.write(UInt64(truncatingIfNeeded: version.modId), into: &bytes)
            last = version.recordId
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(2, forKey: .format)
        try container.encode(String(query, radix: 16), forKey: .query)
        try container.encode(bytes.base64EncodedString(), forKey: .records)
        let digests = contents.map { contents in
            Data(contents.flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } })
        }
        try container.encodeIfPresent(digests?.base64EncodedString(), forKey: .contents)
        try container.encode(String(Self.check(query, bytes + (digests ?? Data())), radix: 16), forKey: .check)
        try container.encode(sample, forKey: .sample)
    }

    /// Numbers of eight bytes, the lowest first.
    private static func numbers(in bytes: Data) -> [UInt64] {
        let bytes = Array(bytes)
        return stride(from: 0, to: bytes.count, by: 8).map { place in
            bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// What tells a text that was cut or changed on the way: records of which one digit is wrong would be other records.
    private static func check(_ query: UInt64, _ bytes: Data) -> UInt64 {
        bytes.fnv1a(from: String(query, radix: 16).utf8.fnv1a())
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow (LEB128).
    private static func write(_ number: UInt64, into bytes: inout Data) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func versions(in bytes: Data) -> [DataAPI.RecordVersion]? {
        var numbers: [UInt64] = []
        var (number, shift) = (UInt64(0), UInt64(0))
        for byte in bytes {
            guard shift < 64 else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 != 0 {
                shift += 7
            } else {
                numbers.append(number)
                (number, shift) = (0, 0)
            }
        }
        guard shift == 0, numbers.count.isMultiple(of: 2) else { return nil }
        var id = 0
        return stride(from: 0, to: numbers.count, by: 2).map { place in
            id = id &+ Int(truncatingIfNeeded: numbers[place])
            return DataAPI.RecordVersion(recordId: id, modId: Int(truncatingIfNeeded: numbers[place + 1]))
        }
    }
}

extension DataAPI.Record where R: Encodable, P: Encodable {
    /// Of all that it holds.
    func digest(_ encoder: FMEncoder) -> UInt64 {
        let portals = (portalData.flatMap { try? encoder.encodePortals($0) }) ?? []
        return portals.fnv1a(from: ((try? encoder.encodeFields(fieldData)) ?? []).fnv1a())
    }
}

extension DataAPI.Layout {
    /// Where it is: on which server, in which database.
    fileprivate var place: [String] {
        [(try? database.server.origin.get()).map { "\($0)" } ?? "", database.name, name]
    }
}

extension DataAPI.FoundSet {
    /// What it asks for and of whom, as a number: the same in each run of a program.
    var fingerprint: UInt64 {
        let requests: [String] =
            switch request(limit: 1) {
            case .range: []
            case .find(let query):
                query.query.map { request in
                    request.sorted { $0.key < $1.key }.map { "\($0.key)\u{0}\($0.value)" }.joined(separator: "\u{1}")
                }
            }
        let parts = layout.layout.place + requests + sort.map { "\($0.fieldName)\u{0}\($0.sortOrder.rawValue)" }
        return parts.joined(separator: "\u{2}").utf8.fnv1a()
    }
}

extension Sequence<UInt8> {
    /// FNV-1a, 64 bits ([RFC 9923](https://www.rfc-editor.org/rfc/rfc9923)).
    ///
    /// - Parameter start: the offset basis, or what it came to so far.
    func fnv1a(from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        reduce(start) { hash, byte in (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}
