import Foundation

/// Whether an object has the same key twice: noticed for every object, at the price of a hash for each key.
///
/// Records look alike. The hashes of an object's keys, folded into one number, name its shape; a shape that was found
/// to be free of duplicates needs no second look.
struct JSONKeys {
    private static let slots = 64
    private static let fewKeys: UInt32 = 32

    private let knownShapes: UnsafeMutablePointer<UInt64>

    init() {
        knownShapes = .allocate(capacity: JSONKeys.slots)
        knownShapes.initialize(repeating: 0, count: JSONKeys.slots)
    }

    func deallocate() {
        knownShapes.deallocate()
    }

    /// A hash of the bytes as they stand in the text. The padding after the text lets it read past its end.
    @inline(__always)
    static func hash(_ bytes: UnsafePointer<UInt8>, _ length: Int) -> UInt32 {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        var hash = UInt64(truncatingIfNeeded: length)
        var position = 0
        while position + 8 <= length {
            hash = (hash ^ UnsafeRawPointer(bytes + position).loadUnaligned(as: UInt64.self)) &* factor
            hash ^= hash >> 29
            position += 8
        }
        if position < length {
            let word = UInt64(littleEndian: UnsafeRawPointer(bytes + position).loadUnaligned(as: UInt64.self))
            hash = (hash ^ word & ((1 &<< UInt64((length &- position) &* 8)) &- 1)) &* factor
        }
        return UInt32(truncatingIfNeeded: hash >> 32)
    }

    /// Whether two of a few keys have the same hash: each is compared with those before it, which is faster than sorting.
    private func hasEqualHashes(_ tape: JSONTape, _ object: UInt32) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Int(JSONKeys.fewKeys)) { hashes in
            var count = 0
            var index = object + 1
            while index < tape.count {
                let hash = tape.entries[Int(index)].link
                for earlier in 0..<count where hashes[earlier] == hash { return true }
                hashes[count] = hash
                count += 1
                index = tape.end(of: index + 1)
            }
            return false
        }
    }

    /// Whether a key comes twice in the object that was just closed, or has escapes, so that it may.
    func mayRepeat(_ tape: JSONTape, _ object: UInt32, _ text: UnsafePointer<UInt8>) -> Bool {
        let end = UInt32(truncatingIfNeeded: tape.count)
        var shape: UInt64 = 1
        var index = object + 1
        while index < end {
            let key = tape.entries[Int(index)]
            if key.flags.contains(.escaped) { return true }
            shape = (shape ^ UInt64(key.link)) &* 0x9E37_79B9_7F4A_7C15
            shape ^= shape >> 31
            index = tape.end(of: index + 1)
        }
        let slot = Int(truncatingIfNeeded: shape & UInt64(JSONKeys.slots - 1))
        if knownShapes[slot] == shape { return false }
        if hasDuplicate(tape, object, text) { return true }
        knownShapes[slot] = shape
        return false
    }

    private func hasDuplicate(_ tape: JSONTape, _ object: UInt32, _ text: UnsafePointer<UInt8>) -> Bool {
        if tape.entries[Int(object)].length <= JSONKeys.fewKeys, !hasEqualHashes(tape, object) { return false }
        var keys: [JSONTape.Entry] = []
        keys.reserveCapacity(Int(tape.entries[Int(object)].length))
        var index = object + 1
        while index < tape.count {
            keys.append(tape.entries[Int(index)])
            index = tape.end(of: index + 1)
        }
        // Sorted by hash and, where hashes agree, by their bytes: equal keys become neighbours, and keys chosen for
        // equal hashes cost no more than a sort.
        func order(_ left: JSONTape.Entry, _ right: JSONTape.Entry) -> Int {
            if left.link != right.link { return left.link < right.link ? -1 : 1 }
            if left.length != right.length { return left.length < right.length ? -1 : 1 }
            return Int(memcmp(text + Int(left.offset), text + Int(right.offset), Int(left.length)))
        }
        keys.sort { order($0, $1) < 0 }
        return zip(keys, keys.dropFirst()).contains { order($0, $1) == 0 }
    }
}
