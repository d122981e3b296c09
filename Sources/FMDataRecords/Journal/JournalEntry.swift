import FMDataCore

/// An entry of a journal, one per line.
enum JournalEntry: Equatable, Sendable {
    /// The first line: what the journal is for.
    case header(JournalHeader)
    /// The rows are for these records, in this order; the digest says what is done to them.
    case list(RowDigest, [WrittenVersion])
    /// A row is about to be sent. From here on until a later line about the row, it may have been carried out.
    ///
    /// - Parameters:
    ///   - key: the key or record id of the row.
    ///   - field: the field that holds the key.
    ///   - over: for an upsert, the record that is edited; `nil` for a new one, and for all other writes.
    case attempt(row: Int, RowDigest, key: String?, field: NotedField = .none, over: WrittenVersion?)
    /// These rows are about to be sent together, by the job that has this key.
    case job(key: String, rows: [JobRow])
    /// The noted attempt has not been carried out, and will not be: the server refused it temporarily, or it was not
    /// sent after all.
    case withdrawn(row: Int)
    /// The outcome of a row.
    ///
    /// - Parameter digest: the digest of a row that was settled without an attempt; else `nil`.
    case outcome(row: Int, RowDigest?, JournalOutcome)
    /// The run has ended, and everything it had to note stands before this line.
    case closed
    /// Another run goes on with a journal that was not closed: lines may be missing before this one.
    case resumed

    /// The field that holds the key by which a record can be looked up.
    enum NotedField: Hashable, Sendable {
        /// A journal of the first version does not say.
        case notSaid
        /// The key is the record's id, or there is none.
        case none
        case named(String)
    }

    /// A row of a job.
    struct JobRow: Hashable, Sendable {
        var row: Int
        var digest: RowDigest
    }
}

/// What a journal is for: a run that resumes with it has to write to the same layout of the same database on the same
/// host.
struct JournalHeader: Hashable, Sendable {
    /// Random, so that digests of different journals differ and cannot be compared.
    var salt: [UInt8]
    /// Scheme, host and port. No account.
    var origin: String
    var database: String
    var layout: String

    /// Makes the header of a new journal.
    ///
    /// - Parameter random: returns a new random number from `0..<1`.
    init(origin: String, database: String, layout: String, random: () -> Double) {
        salt = (0..<16).map { _ in UInt8(truncatingIfNeeded: Int(random() * 256)) }
        self.origin = origin
        self.database = database
        self.layout = layout
    }

    init(salt: [UInt8], origin: String, database: String, layout: String) {
        self.salt = salt
        self.origin = origin
        self.database = database
        self.layout = layout
    }

    /// Whether both headers are for the same layout, whenever the journals were begun.
    func isForTheSame(as other: JournalHeader) -> Bool {
        origin == other.origin && ExactName(database) == ExactName(other.database)
            && ExactName(layout) == ExactName(other.layout)
    }
}

/// A version of a record.
struct WrittenVersion: Hashable, Sendable {
    var recordId: Int
    var modId: Int

    fileprivate var text: String { "\(recordId):\(modId)" }
}

/// The outcome of a row as the journal keeps it: without server text and without values.
struct JournalOutcome: Equatable, Sendable {
    enum Kind: String, Sendable {
        case created, updated, unchanged, deleted, failed
    }

    var kind: Kind
    var recordId: Int?
    var modId: Int?
    /// For a deleted record, whether it existed.
    var wasThere: Bool?
    /// For a failed row, the name of ``FMRest/APIError/code``.
    var errorCode: String?
    var fileMakerCode: Int?
    /// For a failed row, ``FMRest/APIError/fields``.
    var fields: [String] = []
}

// MARK: - Lines

// A line is `NUMBER WORD PART… CHECKSUM` and a line feed. Lines are counted from 0, so that a missing line is noticed.
// The checksum is the CRC-32 of everything before it. Names and keys are percent-encoded, so that no part holds a space
// or a line end.

extension JournalEntry {
    /// Version 2 says which field holds a key, version 3 whether a run has closed its journal. A journal of an earlier
    /// version can be resumed.
    static let version = 3

    /// The line without its end.
    func line(_ number: Int) -> String {
        let body = "\(number) \(words.joined(separator: " "))"
        return "\(body) \(CRC32.hex(of: body.utf8))"
    }

    private var words: [String] {
        switch self {
        case .header(let header):
            [
                "fmdata-journal", "\(Self.version)", Hexadecimal.text(header.salt), header.origin.escaped,
                header.database.escaped, header.layout.escaped,
            ]
        case .list(let digest, let records):
            ["list", digest.text, records.isEmpty ? "-" : records.map(\.text).joined(separator: ",")]
        case .attempt(let row, let digest, let key, let field, let over):
            ["attempt", "\(row)", digest.text, over?.text ?? "-", Self.word(key)] + Self.words(field)
        case .job(let key, let rows):
            ["job", key.escaped, rows.map { "\($0.row):\($0.digest.text)" }.joined(separator: ",")]
        case .withdrawn(let row):
            ["withdrawn", "\(row)"]
        case .outcome(let row, let digest, let outcome):
            [outcome.kind.rawValue, "\(row)", digest?.text ?? "-"] + outcome.words
        case .closed: ["closed"]
        case .resumed: ["resumed"]
        }
    }

    private static func word(_ key: String?) -> String { key.map { "=\($0.escaped)" } ?? "-" }

    private static func words(_ field: NotedField) -> [String] {
        switch field {
        case .notSaid: []
        case .none: ["-"]
        case .named(let name): ["=\(name.escaped)"]
        }
    }

    /// - Parameters:
    ///   - line: the line without its end.
    ///   - number: the number of the previous line plus one.
    init(line: ArraySlice<UInt8>, number: Int) throws(DataAPI.WriteJournalError.Reason) {
        guard let (body, checksum) = line.cutAtLastBlank, checksum.elementsEqual(CRC32.hex(of: body).utf8) else {
            throw .damaged
        }
        var words = JournalWords(body)
        guard words.number() == number, let word = words.word() else { throw .damaged }
        guard let entry = try Self.read(word, &words), words.isEmpty else { throw .damaged }
        self = entry
    }

    private static func read(
        _ word: String,
        _ words: inout JournalWords
    ) throws(DataAPI.WriteJournalError.Reason) -> JournalEntry? {
        switch word {
        case "fmdata-journal":
            guard let version = words.number() else { return nil }
            guard (1...Self.version).contains(version) else { throw .otherVersion }
            return JournalHeader(&words).map(JournalEntry.header)
        case "attempt":
            guard let row = words.number(), let digest = words.digest(), let over = words.version(),
                let key = words.key(), let field = words.field()
            else { return nil }
            return .attempt(row: row, digest, key: key.value, field: field, over: over.value)
        case "list":
            guard let digest = words.digest(), let records = words.versions() else { return nil }
            return .list(digest, records)
        case "job":
            guard let key = words.text(), let rows = words.jobRows() else { return nil }
            return .job(key: key, rows: rows)
        case "withdrawn":
            return words.number().map { .withdrawn(row: $0) }
        case "closed": return .closed
        case "resumed": return .resumed
        default:
            guard let kind = JournalOutcome.Kind(rawValue: word), let row = words.number(),
                let digest = words.optional({ RowDigest(text: $0) }), let outcome = JournalOutcome(kind, &words)
            else { return nil }
            return .outcome(row: row, digest.value, outcome)
        }
    }
}

extension JournalHeader {
    fileprivate init?(_ words: inout JournalWords) {
        guard let salt = words.next().flatMap(Hexadecimal.bytes), salt.count == 16, let origin = words.text(),
            let database = words.text(), let layout = words.text()
        else { return nil }
        self.init(salt: salt, origin: origin, database: database, layout: layout)
    }
}

extension JournalOutcome {
    fileprivate var words: [String] {
        switch kind {
        case .created, .updated, .unchanged: [recordId.map { "\($0)" } ?? "-", modId.map { "\($0)" } ?? "-"]
        case .deleted: [wasThere.map { $0 ? "there" : "gone" } ?? "-"]
        case .failed:
            [(errorCode ?? "").escaped, fileMakerCode.map { "\($0)" } ?? "-"] + fields.map { "=\($0.escaped)" }
        }
    }

    fileprivate init?(_ kind: Kind, _ words: inout JournalWords) {
        self.init(kind: kind)
        switch kind {
        case .created, .updated, .unchanged:
            guard let recordId = words.optional(\.wholeNumber), let modId = words.optional(\.wholeNumber) else {
                return nil
            }
            (self.recordId, self.modId) = (recordId.value, modId.value)
        case .deleted:
            let states = ["there": true, "gone": false]
            guard let wasThere = words.optional({ states[String(decoding: $0, as: UTF8.self)] }) else { return nil }
            self.wasThere = wasThere.value
        case .failed:
            guard let code = words.text(), let fileMakerCode = words.optional(\.wholeNumber) else { return nil }
            (errorCode, self.fileMakerCode) = (code, fileMakerCode.value)
            while !words.isEmpty {
                guard let field = words.key()?.value else { return nil }
                fields.append(field)
            }
        }
    }
}

// MARK: - Words

/// Reads the words of a line, one after the other.
private struct JournalWords {
    /// A word that is either empty (`-`) or a value.
    struct Optionally<Value> {
        var value: Value?
    }

    /// `nil` after the last word, which may be empty.
    private var rest: ArraySlice<UInt8>?

    init(_ body: ArraySlice<UInt8>) { rest = body }

    var isEmpty: Bool { rest == nil }

    mutating func next() -> ArraySlice<UInt8>? {
        guard let rest else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: " "))
        self.rest = end.map { rest[($0 + 1)...] }
        return rest[..<(end ?? rest.endIndex)]
    }

    mutating func word() -> String? { next().map { String(decoding: $0, as: UTF8.self) } }
    mutating func number() -> Int? { next().flatMap(\.wholeNumber).flatMap { $0 >= 0 ? $0 : nil } }
    mutating func text() -> String? { next().flatMap { String(escaped: $0) } }
    mutating func digest() -> RowDigest? { next().flatMap { RowDigest(text: $0) } }

    mutating func optional<Value>(_ read: (ArraySlice<UInt8>) -> Value?) -> Optionally<Value>? {
        guard let word = next() else { return nil }
        return word.elementsEqual("-".utf8) ? Optionally(value: nil) : read(word).map { Optionally(value: $0) }
    }

    mutating func version() -> Optionally<WrittenVersion>? {
        optional { WrittenVersion(text: $0) }
    }

    mutating func versions() -> [WrittenVersion]? {
        let read = optional { word -> [WrittenVersion]? in
            let parts = word.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            let versions = parts.compactMap { WrittenVersion(text: $0) }
            return versions.count == parts.count ? versions : nil
        }
        return read.map { $0.value ?? [] }
    }

    mutating func key() -> Optionally<String>? {
        optional { word in word.first == UInt8(ascii: "=") ? String(escaped: word.dropFirst()) : nil }
    }

    mutating func field() -> JournalEntry.NotedField? {
        if isEmpty { return .notSaid }
        return key().map { field in field.value.map { .named($0) } ?? .none }
    }

    mutating func jobRows() -> [JournalEntry.JobRow]? {
        guard let word = next() else { return nil }
        var rows: [JournalEntry.JobRow] = []
        for part in word.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let parts = part.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count == 2, let row = parts[0].wholeNumber, row >= 0, let digest = RowDigest(text: parts[1])
            else { return nil }
            rows.append(JournalEntry.JobRow(row: row, digest: digest))
        }
        return rows
    }
}

extension WrittenVersion {
    fileprivate init?(text: ArraySlice<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).compactMap(\.wholeNumber)
        guard parts.count == 2 else { return nil }
        self.init(recordId: parts[0], modId: parts[1])
    }
}

extension ArraySlice<UInt8> {
    /// A decimal number, with an optional minus sign.
    fileprivate var wholeNumber: Int? { Int(String(decoding: self, as: UTF8.self)) }

    /// The parts before and after the last space.
    fileprivate var cutAtLastBlank: (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        lastIndex(of: UInt8(ascii: " ")).map { (self[..<$0], self[($0 + 1)...]) }
    }
}

extension String {
    /// The text without spaces, line ends or non-ASCII characters (RFC 3986 §2.1).
    fileprivate var escaped: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                bytes += "%\(Hexadecimal.text([byte]))".utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate init?(escaped text: ArraySlice<UInt8>) {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let byte = Hexadecimal.bytes(rest.prefix(2)), byte.count == 1 else { return nil }
            bytes += byte
            rest.removeFirst(2)
        }
        self.init(decoding: bytes, as: UTF8.self)
        // Invalid UTF-8 is decoded to other bytes.
        guard utf8.elementsEqual(bytes) else { return nil }
    }
}

/// Bytes as pairs of hexadecimal digits, in lower case.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }
}

/// The checksum of ISO 3309, as in zip and PNG: it detects every change that spans at most 32 bits.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { value, byte in value >> 8 ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
    }

    static func hex(of bytes: some Sequence<UInt8>) -> String {
        let checksum = checksum(of: bytes)
        return Hexadecimal.text([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> $0) })
    }
}
