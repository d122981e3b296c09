/// Bytes of a JSON text as they arrive, and the tape of the value that is being read in them.
///
/// Memory: unread bytes and one tape. A value may be read while its last bytes have not come yet; `readValue` then stops
/// and goes on where it was when more have been appended, so no byte is looked at twice.
///
/// This is a class because decoders refer to it and its memory must outlive them. Whoever reads value after value has
/// to check that nobody else holds on to the document before it reads the next one into the same memory.
final class JSONDocument {
    /// Room after the last byte that can always be read, and is zero: loops over strings need no other limit.
    static let padding = 48
    /// FileMaker's numbers end at 400 digits. A limit keeps a number that arrives byte by byte from taking forever.
    static let maximumNumberBytes = 4_096

    let limits: JSONLimits
    var tape = JSONTape()
    var reading = Reading()
    let keys = KeyMemory()

    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    /// Bytes that are there.
    private(set) var count = 0
    /// Bytes of the body that are not here any more.
    private(set) var dropped = 0
    /// Where the value begins that the tape describes.
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

    /// Position in the whole body of a position here.
    func bodyOffset(_ position: Int) -> Int { dropped + position }

    func syntaxError(_ reason: JSONSyntaxError.Reason, at position: Int) -> JSONSyntaxError {
        JSONSyntaxError(reason: reason, offset: bodyOffset(position))
    }

    // MARK: Bytes

    func append(_ chunk: UnsafeRawBufferPointer) {
        guard let source = chunk.baseAddress, !chunk.isEmpty else { return }
        // Moving what is left is worth it once at least as much has been used up: each byte moves once on average.
        if valueStart > 0, valueStart >= count - valueStart { dropUsedBytes() }
        if count + chunk.count > capacity { grow(to: count + chunk.count) }
        UnsafeMutableRawPointer(bytes + count).copyMemory(from: source, byteCount: chunk.count)
        count += chunk.count
        (bytes + count).initialize(repeating: 0, count: JSONDocument.padding)
    }

    /// Says that everything before `position` is done with.
    func startValue() {
        valueStart = position
    }

    /// Forgets all bytes, for the next body.
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

    /// A document with the unread bytes of this one, for when somebody keeps hold of this one.
    func continuation() -> JSONDocument {
        let copy = JSONDocument(limits: limits, capacity: count - position)
        copy.append(UnsafeRawBufferPointer(start: bytes + position, count: count - position))
        copy.dropped = dropped + position
        return copy
    }

    // MARK: Content

    /// The content of a string, key or number, as it stands in the text.
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

/// What a document will not go beyond.
struct JSONLimits: Hashable, Sendable {
    /// Containers within containers.
    var maximumDepth = 128
    /// Bytes of one value, a record for instance.
    var maximumValueBytes = 64 << 20
    /// Whether faulty text is repaired instead of refused.
    var repairsText = false
    var refusesDuplicateKeys = false
}
