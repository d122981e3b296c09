/// The tape of a value and the text it belongs to, as plain pointers: what the containers work with. Copying it costs
/// nothing, and it keeps nothing alive: whoever holds one holds the context too.
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

    /// Whether a key without escapes is this name.
    @inline(__always)
    func isEqual(_ key: JSONTape.Entry, _ name: StaticString) -> Bool {
        isEqual(key, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    /// Whether a key without escapes is this name, byte for byte.
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
        // Eight bytes at a time; the last eight may overlap those before.
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
