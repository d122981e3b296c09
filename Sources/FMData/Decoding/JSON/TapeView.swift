/// The tape of a value and its text, as plain pointers, for the containers. Copying it is free. It keeps nothing alive,
/// so its owner must hold the context as well.
struct TapeView {
    let entries: UnsafeMutablePointer<JSONTape.Entry>
    let text: UnsafeMutablePointer<UInt8>

    @inline(__always)
    subscript(index: UInt32) -> JSONTape.Entry { entries[Int(index)] }

    @inline(__always)
    func content(_ entry: JSONTape.Entry) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: text + Int(entry.offset), count: Int(entry.length))
    }

    /// The text of a string or key.
    @inline(__always)
    func string(_ entry: JSONTape.Entry) -> String { JSONText.string(content(entry), entry.flags) }

    /// The index after the value at `index`.
    @inline(__always)
    func end(of index: UInt32) -> UInt32 {
        let entry = self[index]
        return entry.kind == .object || entry.kind == .array ? entry.link : index &+ 1
    }

    /// Whether a key without escapes equals this name.
    @inline(__always)
    func isEqual(_ key: JSONTape.Entry, _ name: StaticString) -> Bool {
        isEqual(key, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    /// Whether a key without escapes equals this name, byte for byte.
    @inline(__always)
    func isEqual(_ key: JSONTape.Entry, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard Int(key.length) == name.count else { return false }
        let key = UnsafeRawPointer(text + Int(key.offset))
        guard name.count >= 8 else {
            for index in 0..<name.count where key.load(fromByteOffset: index, as: UInt8.self) != name[index] {
                return false
            }
            return true
        }
        // It compares eight bytes at a time. The last eight may overlap those before.
        let name = UnsafeRawBufferPointer(name)
        var position = 0
        let last = name.count &- 8
        while position < last {
            if key.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                != name.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            {
                return false
            }
            position &+= 8
        }
        return key.loadUnaligned(fromByteOffset: last, as: UInt64.self)
            == name.loadUnaligned(fromByteOffset: last, as: UInt64.self)
    }
}
