/// The structure of a JSON value as a flat array, in the order of the text: each container is followed by its content,
/// each key by its value. Strings and numbers stay in the text and are read on demand.
///
/// The memory is reused from record to record, so it stays in the processor's cache.
struct JSONTape {
    struct Entry: Equatable {
        enum Kind: UInt8 {
            case object, array, key, string, number, `true`, `false`, null
        }

        struct Flags: OptionSet {
            let rawValue: UInt8
            /// A string or key with escapes.
            static let escaped = Flags(rawValue: 1)
            /// A string or key with bytes beyond ASCII.
            static let nonASCII = Flags(rawValue: 2)
            /// A number without an exponent whose digits, read as one integer, are stored in ``Entry/link``.
            static let small = Flags(rawValue: 4)
            /// An object that has the same key twice, or an escaped key that may be the same as another: only a walk
            /// from its first key tells which value counts.
            static let irregular = Flags(rawValue: 8)
            /// A number with a minus sign.
            static let negative = Flags(rawValue: 16)
            /// A string or key that was not checked, because malformed text is repaired when it is read.
            static let unchecked = Flags(rawValue: 32)
        }

        /// The first byte of the content (of a string: after its quote), from the start of the value.
        var offset: UInt32
        /// The number of bytes of the content; for a container, the number of its members.
        var length: UInt32
        /// For a container, the index after its last entry, or the index of its parent while it is open; for a key, its
        /// hash; for a ``Flags/small`` number, its digits.
        var link: UInt32
        var kind: Kind
        var flags: Flags
        /// For a ``Flags/small`` number, the number of digits after the point.
        var scale: UInt8 = 0
    }

    /// Stands for no index.
    static let none = UInt32.max

    private(set) var entries: UnsafeMutablePointer<Entry>
    private(set) var capacity: Int
    var count = 0

    init() {
        capacity = 128
        entries = .allocate(capacity: capacity)
    }

    func deallocate() {
        entries.deallocate()
    }

    mutating func grow() {
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: entries, count: count)
        entries.deallocate()
        entries = larger
        capacity *= 2
    }

    /// The index after the value at `index`.
    @inline(__always)
    func end(of index: UInt32) -> UInt32 {
        let entry = entries[Int(index)]
        switch entry.kind {
        case .object, .array: return entry.link
        case .key, .string, .number, .true, .false, .null: return index + 1
        }
    }
}

extension JSONTape.Entry {
    /// The integer, if the number is small and has no fraction.
    @inline(__always)
    var smallInteger: Int64? {
        guard kind == .number, flags.contains(.small), scale == 0 else { return nil }
        return flags.contains(.negative) ? -Int64(link) : Int64(link)
    }

    /// The number, if it is small. Digits below 2^53 and powers of ten up to 22 are both exact, so their quotient is
    /// correctly rounded.
    @inline(__always)
    var smallDouble: Double? {
        guard kind == .number, flags.contains(.small) else { return nil }
        let magnitude = Double(link) / NumberText.powersOfTen[Int(scale)]
        return flags.contains(.negative) ? -magnitude : magnitude
    }
}

extension JSONTape.Entry {
    /// Whether an object contains no containers, so that its keys are at the odd places.
    @inline(__always)
    func isFlat(at index: UInt32) -> Bool { link &- index == 2 &* length &+ 1 }
}

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
