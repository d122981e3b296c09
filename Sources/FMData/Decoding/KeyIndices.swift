/// Finding members of objects by name when a guess has failed.
struct KeyIndices {
    /// From this many members on, an object that is not asked in order gets an index.
    private static let largeObject = 40

    /// Object → table of its keys by hash; each slot holds the index of a key, 0 when free.
    private var tables: [UInt32: [UInt32]] = [:]

    mutating func reset() {
        if !tables.isEmpty { tables.removeAll() }
    }

    /// The key of this name in an object without irregular keys.
    mutating func key(
        _ name: UnsafeBufferPointer<UInt8>,
        in object: UInt32,
        startingAt start: UInt32,
        _ tape: TapeView
    ) -> UInt32? {
        let head = tape[object]
        guard head.length > KeyIndices.largeObject else {
            return KeyIndices.scan(name, start, head.link, tape) ?? KeyIndices.scan(name, object + 1, start, tape)
        }
        if start < head.link, tape.isEqual(tape[start], name) { return start }
        let table = tables[object] ?? makeTable(object, tape)
        let mask = UInt32(table.count - 1)
        var slot = JSONKeys.hash(of: name) & mask
        while table[Int(slot)] != 0 {
            let key = table[Int(slot)]
            if tape.isEqual(tape[key], name) { return key }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private static func scan(
        _ name: UnsafeBufferPointer<UInt8>,
        _ start: UInt32,
        _ end: UInt32,
        _ tape: TapeView
    ) -> UInt32? {
        var index = start
        while index < end {
            if tape.isEqual(tape[index], name) { return index }
            index = tape.end(of: index + 1)
        }
        return nil
    }

    private mutating func makeTable(_ object: UInt32, _ tape: TapeView) -> [UInt32] {
        let head = tape[object]
        var size = 64
        while size < head.length * 2 { size *= 2 }
        let mask = UInt32(size - 1)
        var table = [UInt32](repeating: 0, count: size)
        var index = object + 1
        while index < head.link {
            var slot = tape[index].link & mask
            while table[Int(slot)] != 0 { slot = (slot + 1) & mask }
            table[Int(slot)] = index
            index = tape.end(of: index + 1)
        }
        tables[object] = table
        return table
    }
}

extension JSONKeys {
    /// The hash of a name that is not followed by padding.
    static func hash(of name: UnsafeBufferPointer<UInt8>) -> UInt32 {
        withUnsafeTemporaryAllocation(byteCount: name.count + 8, alignment: 8) { scratch in
            scratch.copyMemory(from: UnsafeRawBufferPointer(name))
            // The allocation has at least 8 bytes.
            return hash(scratch.baseAddress!.assumingMemoryBound(to: UInt8.self), name.count)
        }
    }
}
