/// Holds the bytes of a JSON text as they arrive, and the tape of the value that is being read from them.
///
/// Memory: unread bytes and one tape. Reading may begin before the last bytes of a value have arrived. `readValue` then
/// stops, and continues at the same position after more bytes were appended, so no byte is read twice.
///
/// This is a class because decoders refer to it and its memory must outlive them. Before a reader reads the next value
/// into the same memory, it must check that no other object refers to the document.
final class JSONDocument {
    /// Zero bytes after the last byte that may always be read, so loops over strings need no other limit.
    static let padding = 48
    /// FileMaker's numbers have at most 400 digits. The limit bounds the work for a number that arrives byte by byte.
    static let maximumNumberBytes = 4_096

    let limits: JSONLimits
    var tape = JSONTape()
    var reading = Reading()
    let keys = KeyMemory()

    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    /// The number of bytes in memory.
    private(set) var count = 0
    /// The number of bytes of the body that were dropped from memory.
    private(set) var dropped = 0
    /// The start of the value that the tape describes.
    private(set) var valueStart = 0
    /// The next byte to be read.
    var position = 0

    init(limits: JSONLimits = JSONLimits(), capacity: Int = 0) {
        self.limits = limits
        self.capacity = capacity
        bytes = .allocate(capacity: capacity + JSONDocument.padding)
        bytes.initialize(repeating: 0, count: JSONDocument.padding)
    }

    deinit {
        bytes.deallocate()
        tape.deallocate()
    }

    /// Converts a position in memory to a position in the whole body.
    func bodyOffset(_ position: Int) -> Int { dropped + position }

    func syntaxError(_ reason: JSONSyntaxError.Reason, at position: Int) -> JSONSyntaxError {
        JSONSyntaxError(reason: reason, offset: bodyOffset(position))
    }

    // MARK: Bytes

    func append(_ chunk: UnsafeRawBufferPointer) {
        guard let source = chunk.baseAddress, !chunk.isEmpty else { return }
        // Moves the rest only if at least as much has been used up, so each byte moves once on average.
        if valueStart > 0, valueStart >= count - valueStart { dropUsedBytes() }
        if count + chunk.count > capacity { grow(to: count + chunk.count) }
        UnsafeMutableRawPointer(bytes + count).copyMemory(from: source, byteCount: chunk.count)
        count += chunk.count
        (bytes + count).initialize(repeating: 0, count: JSONDocument.padding)
    }

    /// Marks everything before `position` as used.
    func startValue() {
        valueStart = position
    }

    /// Drops all bytes, for the next body.
    func restart() {
        tape.count = 0
        reading = Reading()
        count = 0
        dropped = 0
        valueStart = 0
        position = 0
    }

    private func dropUsedBytes() {
        bytes.update(from: bytes + valueStart, count: count - valueStart)
        dropped += valueStart
        position -= valueStart
        count -= valueStart
        valueStart = 0
    }

    private func grow(to minimum: Int) {
        let larger = max(capacity * 2, minimum)
        let new = UnsafeMutablePointer<UInt8>.allocate(capacity: larger + JSONDocument.padding)
        new.moveInitialize(from: bytes, count: count)
        bytes.deallocate()
        bytes = new
        capacity = larger
    }

    /// A new document with the unread bytes of this one, for use when another object still refers to this one.
    func continuation() -> JSONDocument {
        let copy = JSONDocument(limits: limits, capacity: count - position)
        copy.append(UnsafeRawBufferPointer(start: bytes + position, count: count - position))
        copy.dropped = dropped + position
        return copy
    }

    // MARK: Content

    /// The content of a string, key or number as it is in the text, with its escapes.
    @inline(__always)
    func content(_ entry: JSONTape.Entry) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: bytes + valueStart + Int(entry.offset), count: Int(entry.length))
    }

    @inline(__always)
    subscript(index: UInt32) -> JSONTape.Entry { tape.entries[Int(index)] }

    /// The text of a string or key.
    @inline(__always)
    func text(_ entry: JSONTape.Entry) -> String { JSONText.string(content(entry), entry.flags) }
}

extension JSONDocument {
    /// Reads the only value of the text.
    func readWhole() throws(JSONSyntaxError) {
        skipByteOrderMark()
        guard nextByte() != nil else { throw syntaxError(.truncated, at: count) }
        beginValue()
        _ = try readValue(isLast: true)
        guard nextByte() == nil else { throw syntaxError(.trailingBytes, at: position) }
    }

    /// Skips the three bytes that some editors and proxies put before a text. Returns `false` if too few bytes have
    /// arrived to decide.
    @discardableResult
    func skipByteOrderMark() -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let found = (0..<min(count, 3)).allSatisfy { bytes[$0] == mark[$0] }
        guard found else { return true }
        guard count >= 3 else { return false }
        position = 3
        return true
    }
}

/// The limits for a document.
struct JSONLimits: Hashable, Sendable {
    /// The greatest depth of nested containers.
    var maximumDepth = 128
    /// The greatest size of one value, such as a record, in bytes.
    var maximumValueBytes = 64 << 20
    /// Whether malformed text is repaired instead of refused.
    var repairsText = false
    var refusesDuplicateKeys = false
}
