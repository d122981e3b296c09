public import FMDataCore
import FMDataRecords
import Foundation

extension DataAPI {
    /// How far a program has followed the changes of a query: which records it knows, and in which versions. It can be
    /// stored in a file and passed to ``RecordSource/changes(since:options:isolation:)`` by the next run.
    ///
    /// Store it *after* its event was processed: if the program ends in between, the event comes again (delivery at
    /// least once), and nothing is lost. As JSON it takes three to four bytes per record, and eleven more when
    /// ``LiveOptions/related`` is set. It contains no field values.
    public struct LiveCursor: Hashable, Sendable {
        /// A digest of the query, its server, database and layout; it does not reveal what is searched for.
        let query: UInt64
        /// In rising order of the ids.
        let versions: [RecordVersion]
        /// A digest of each record's contents, if these can change without a commit.
        var contents: [UInt64]?
        var sample = IdentitySample()

        /// How many records it knows.
        public var count: Int { versions.count }
    }
}

extension DataAPI.LiveCursor {
    /// - Parameter comparesContents: whether contents are compared, because they can change without a commit of their
    ///   record.
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

    /// Reads what ``encode(to:)`` wrote. Throws for a format that this version does not know, and for damaged data.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let format = try container.decode(Int.self, forKey: .format)
        // Format 1 has no sample, and its query digest does not include the server; the checksum of format 2 does not
        // include the sample.
        guard 1...3 ~= format else {
            throw DecodingError.dataCorruptedError(
                forKey: .format,
                in: container,
                debugDescription: "A cursor of format \(format), and 1 to 3 are those that are known here."
            )
        }
        let sample = try container.decodeIfPresent(IdentitySample.self, forKey: .sample) ?? IdentitySample()
        let digests = try container.decodeIfPresent(String.self, forKey: .contents)
        guard let query = UInt64(try container.decode(String.self, forKey: .query), radix: 16),
            let bytes = Data(base64Encoded: try container.decode(String.self, forKey: .records)),
            let contents = Data(base64Encoded: digests ?? ""),
            UInt64(try container.decode(String.self, forKey: .check), radix: 16)
                == Self.check(query, bytes + contents + (format < 3 ? [] : sample.bytes)),
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
        self.sample = sample
    }

    /// Writes the cursor: for each record the difference of its id to the previous one and its modId, in as few bytes
    /// as possible.
    public func encode(to encoder: any Encoder) throws {
        var bytes = Data()
        var last = 0
        for version in versions {
            Self.write(UInt64(truncatingIfNeeded: version.recordId &- last), into: &bytes)
            Self.write(UInt64(truncatingIfNeeded: version.modId), into: &bytes)
            last = version.recordId
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(3, forKey: .format)
        try container.encode(String(query, radix: 16), forKey: .query)
        try container.encode(bytes.base64EncodedString(), forKey: .records)
        let digests = contents.map { contents in
            Data(contents.flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } })
        }
        try container.encodeIfPresent(digests?.base64EncodedString(), forKey: .contents)
        let check = Self.check(query, bytes + (digests ?? Data()) + sample.bytes)
        try container.encode(String(check, radix: 16), forKey: .check)
        try container.encode(sample, forKey: .sample)
    }

    /// Decodes numbers of eight bytes, little-endian.
    private static func numbers(in bytes: Data) -> [UInt64] {
        let bytes = Array(bytes)
        return stride(from: 0, to: bytes.count, by: 8).map { place in
            bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// A checksum that detects data that was truncated or altered: a single wrong digit would turn ids into those of
    /// other records.
    private static func check(_ query: UInt64, _ bytes: Data) -> UInt64 {
        bytes.fnv1a(from: String(query, radix: 16).utf8.fnv1a())
    }

    /// Seven bits per byte, least significant first; the highest bit says that more bytes follow (LEB128).
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
    /// A digest of all fields and portals.
    func digest(_ encoder: FMEncoder) -> UInt64 {
        let portals = (portalData.flatMap { try? encoder.encodePortals($0) }) ?? []
        return portals.fnv1a(from: ((try? encoder.encodeFields(fieldData)) ?? []).fnv1a())
    }
}

extension DataAPI.Layout {
    /// The server, the database and the layout's name.
    fileprivate var place: [String] {
        [(try? database.server.origin.get()).map { "\($0)" } ?? "", database.name, name]
    }
}

extension DataAPI.FoundSet {
    /// A digest of what is searched for and where: the same in each run of a program.
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
    /// - Parameter start: the offset basis, or the hash so far.
    func fnv1a(from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        reduce(start) { hash, byte in (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}
