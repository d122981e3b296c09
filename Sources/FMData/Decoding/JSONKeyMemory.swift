/// The keys of the last value, by their place on the tape.
///
/// The records of an answer have the same keys in the same order. So a key is first compared with the one that stood in its
/// place in the record before, and when it is the same, which takes a few instructions, nothing of it needs to be scanned,
/// checked or hashed again.
///
/// While every key is the one remembered, the objects are those that were judged before: as long as the ``epoch`` stands,
/// an object that began and ended at the same places has no duplicate keys if it had none then.
struct JSONKeyMemory {
    /// Places that are remembered; a record of some hundred fields.
    static let limit = 256
    /// Bytes of a key that are remembered, its quote and colon among them. Keys beyond are read anew each time.
    private static let maximumLength = 32

    /// A key as it stood in the text, as the words that hold it.
    private struct Known {
        var words: (UInt64, UInt64, UInt64, UInt64)
        /// Which of the bits belong to the key.
        var masks: (UInt64, UInt64, UInt64, UInt64)
        var hash: UInt32
        /// Bytes of the key.
        var length: UInt8
        var flags: JSONTape.Entry.Flags
    }

    /// How many bytes are remembered at a place: the key, the quote that ends it and mostly a colon; 0 for nothing.
    private let lengths: UnsafeMutablePointer<UInt8>
    /// What is remembered, where something is.
    private let known: UnsafeMutablePointer<Known>
    /// For an object that begins at a place: the epoch and the end at which it was found regular.
    private let regular: UnsafeMutablePointer<UInt64>
    /// Changes whenever a key is not the one remembered for its place.
    private(set) var epoch: UInt64 = 1

    init() {
        lengths = .allocate(capacity: JSONKeyMemory.limit)
        lengths.initialize(repeating: 0, count: JSONKeyMemory.limit)
        known = .allocate(capacity: JSONKeyMemory.limit)
        regular = .allocate(capacity: JSONKeyMemory.limit)
        regular.initialize(repeating: 0, count: JSONKeyMemory.limit)
    }

    /// Whether it has seen so many keys that the places of ``regular``, which have half a word for the epoch, could soon mean
    /// another one.
    var isWornOut: Bool { epoch > UInt64(UInt32.max / 2) }

    func deallocate() {
        lengths.deallocate()
        known.deallocate()
        regular.deallocate()
    }

    /// A key that stands where it stood before.
    struct Match {
        var entry: JSONTape.Entry
        /// The byte after its quote, or after its colon.
        var next: Int
        /// Whether the colon belongs to what was compared.
        var hasColon: Bool
    }

    /// The key whose content begins at `offset`, if it is the one that stood in its place before.
    ///
    /// Reads 32 bytes, which the padding allows. A key that has not arrived in full is not equal: its closing quote is
    /// missing.
    @inline(__always)
    func match(at place: Int, _ base: UnsafePointer<UInt8>, _ offset: Int) -> Match? {
        guard place < JSONKeyMemory.limit else { return nil }
        let length = Int(lengths[place])
        guard length > 0 else { return nil }
        let known = known + place
        let text = UnsafeRawPointer(base + offset)
        var difference =
            (text.loadUnaligned(as: UInt64.self) ^ known.pointee.words.0) & known.pointee.masks.0
            | (text.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ known.pointee.words.1) & known.pointee.masks.1
        if length > 16 {
            difference |=
                (text.loadUnaligned(fromByteOffset: 16, as: UInt64.self) ^ known.pointee.words.2)
                & known.pointee.masks.2
                | (text.loadUnaligned(fromByteOffset: 24, as: UInt64.self) ^ known.pointee.words.3)
                & known.pointee.masks.3
        }
        guard difference == 0 else { return nil }
        let keyLength = Int(known.pointee.length)
        return Match(
            entry: JSONTape.Entry(
                offset: UInt32(truncatingIfNeeded: offset),
                length: UInt32(truncatingIfNeeded: keyLength),
                link: known.pointee.hash,
                kind: .key,
                flags: known.pointee.flags
            ),
            next: offset &+ length,
            hasColon: length &- keyLength == 2
        )
    }

    /// Remembers a key that was not the expected one.
    mutating func learn(_ key: JSONTape.Entry, at place: Int, _ base: UnsafePointer<UInt8>) {
        epoch += 1
        let text = base + Int(key.offset)
        let length = Int(key.length) + (text[Int(key.length) + 1] == UInt8(ascii: ":") ? 2 : 1)
        guard length <= JSONKeyMemory.maximumLength else {
            lengths[place] = 0
            return
        }
        func word(_ index: Int) -> UInt64 {
            UnsafeRawPointer(text).loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
        }
        func mask(_ index: Int) -> UInt64 {
            let bytes = min(8, max(0, length - index * 8))
            return bytes == 8 ? .max : ((1 << UInt64(bytes * 8)) - 1).littleEndian
        }
        lengths[place] = UInt8(length)
        (known + place).initialize(
            to: Known(
                words: (word(0), word(1), word(2), word(3)),
                masks: (mask(0), mask(1), mask(2), mask(3)),
                hash: key.link,
                length: UInt8(key.length),
                flags: key.flags
            )
        )
    }

    /// Whether the object is known to have no duplicate keys.
    @inline(__always)
    func isRegular(_ object: UInt32, end: Int) -> Bool {
        end <= JSONKeyMemory.limit && regular[Int(object)] == epoch &<< 32 | UInt64(truncatingIfNeeded: end)
    }

    /// The object was found to have none.
    func setRegular(_ object: UInt32, end: Int) {
        if end <= JSONKeyMemory.limit { regular[Int(object)] = epoch << 32 | UInt64(truncatingIfNeeded: end) }
    }
}
