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
    private static let maximumLength = 32

    private struct Known {
        /// Bytes of the key and of the quote that ends it; 0 when nothing is known.
        var length: UInt8 = 0
        var flags: JSONTape.Entry.Flags = []
        var hash: UInt32 = 0
    }

    private let known: UnsafeMutablePointer<Known>
    /// The bytes of the known keys; of others whatever was in the memory.
    private let texts: UnsafeMutablePointer<UInt8>
    /// For an object that begins at a place: the epoch and the end at which it was found regular.
    private let regular: UnsafeMutablePointer<UInt64>
    /// Changes whenever a key is not the one remembered for its place.
    private(set) var epoch: UInt64 = 1

    init() {
        known = .allocate(capacity: JSONKeyMemory.limit)
        known.initialize(repeating: Known(), count: JSONKeyMemory.limit)
        texts = .allocate(capacity: JSONKeyMemory.limit * JSONKeyMemory.maximumLength)
        regular = .allocate(capacity: JSONKeyMemory.limit)
        regular.initialize(repeating: 0, count: JSONKeyMemory.limit)
    }

    func deallocate() {
        known.deallocate()
        texts.deallocate()
        regular.deallocate()
    }

    /// The entry of the key whose content begins at `offset`, if it is the one that stood in its place before.
    ///
    /// Reads up to seven bytes beyond the key, which the padding allows. A key that has not arrived in full is not equal:
    /// its closing quote is missing.
    @inline(__always)
    func entry(at place: Int, _ base: UnsafePointer<UInt8>, _ offset: Int) -> JSONTape.Entry? {
        let known = known[place]
        let length = Int(known.length)
        guard length > 0 else { return nil }
        let text = UnsafeRawPointer(base + offset)
        let remembered = UnsafeRawPointer(texts + place &* JSONKeyMemory.maximumLength)
        var position = 0
        while position &+ 8 < length {
            guard
                text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                    == remembered.load(fromByteOffset: position, as: UInt64.self)
            else { return nil }
            position &+= 8
        }
        let difference =
            UInt64(littleEndian: text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            ^ UInt64(littleEndian: remembered.load(fromByteOffset: position, as: UInt64.self))
        guard difference &<< UInt64(64 &- (length &- position) &* 8) == 0 else { return nil }
        return JSONTape.Entry(
            offset: UInt32(truncatingIfNeeded: offset),
            length: UInt32(truncatingIfNeeded: length &- 1),
            link: known.hash,
            kind: .key,
            flags: known.flags
        )
    }

    /// Remembers a key that was not the expected one.
    mutating func learn(_ key: JSONTape.Entry, at place: Int, _ base: UnsafePointer<UInt8>) {
        epoch += 1
        let length = Int(key.length) + 1
        guard length <= JSONKeyMemory.maximumLength else {
            known[place].length = 0
            return
        }
        known[place] = Known(length: UInt8(length), flags: key.flags, hash: key.link)
        (texts + place * JSONKeyMemory.maximumLength).update(from: base + Int(key.offset), count: length)
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
