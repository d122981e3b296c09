/// Finding members of objects by name when a guess has failed. However many members an object has and whatever they are
/// called, looking for each of them takes a time that grows as their number does.
struct KeyIndices {
    /// From this many members on, an object that is not asked in order gets an index.
    private static let largeObject = 40

    private enum Index {
        /// The keys by the hashes that the reader made of them; each slot holds the index of a key, 0 when free.
        case table([UInt32])
        /// The keys by name, the first of each: where escapes have to be undone, names come twice, or somebody chose names of
        /// equal hashes.
        case names([ExactName: UInt32])
    }

    private var indices: [UInt32: Index] = [:]
    /// Keys that were looked at, here and wherever else a lookup goes beyond a guess: a measure of work for tests.
    var work = 0

    mutating func reset() {
        if !indices.isEmpty { indices.removeAll(keepingCapacity: true) }
    }

    /// The key of exactly this name; the first one, where there are several.
    mutating func key(_ name: String, in object: UInt32, startingAt start: UInt32, _ tape: TapeView) -> UInt32? {
        let head = tape[object]
        var name = name
        if !head.flags.contains(.irregular) {
            let isLarge = head.length > KeyIndices.largeObject
            let key = name.withUTF8 { name in
                if isLarge { return start < head.link && tape.isEqual(tape[start], name) ? start : nil }
                return scan(name, start, head.link, tape) ?? scan(name, object + 1, start, tape)
            }
            if !isLarge || key != nil { return key }
        }
        switch indices[object] ?? makeIndex(object, tape) {
        case .table(let table): return name.withUTF8 { find($0, in: table, tape) }
        case .names(let names):
            work &+= 1
            return names[ExactName(name)]
        }
    }

    private mutating func scan(
        _ name: UnsafeBufferPointer<UInt8>,
        _ start: UInt32,
        _ end: UInt32,
        _ tape: TapeView
    ) -> UInt32? {
        var index = start
        while index < end {
            work &+= 1
            if tape.isEqual(tape[index], name) { return index }
            index = tape.end(of: index + 1)
        }
        return nil
    }

    private mutating func find(_ name: UnsafeBufferPointer<UInt8>, in table: [UInt32], _ tape: TapeView) -> UInt32? {
        let mask = UInt32(table.count - 1)
        var slot = JSONKeys.hash(of: name) & mask
        while table[Int(slot)] != 0 {
            let key = table[Int(slot)]
            work &+= 1
            if tape.isEqual(tape[key], name) { return key }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private mutating func makeIndex(_ object: UInt32, _ tape: TapeView) -> Index {
        let isRegular = !tape[object].flags.contains(.irregular)
        let index = (isRegular ? makeTable(object, tape).map(Index.table) : nil) ?? .names(makeNames(object, tape))
        indices[object] = index
        return index
    }

    /// `nil` where too many keys want the same slots.
    private mutating func makeTable(_ object: UInt32, _ tape: TapeView) -> [UInt32]? {
        let head = tape[object]
        var size = 64
        while size < head.length * 2 { size *= 2 }
        let mask = UInt32(size - 1)
        var table = [UInt32](repeating: 0, count: size)
        var index = object + 1
        // A table that is half full takes half a step for each key.
        var steps = 64 + 4 * Int(head.length)
        while index < head.link {
            var slot = tape[index].link & mask
            work &+= 1
            while table[Int(slot)] != 0 {
                steps -= 1
                work &+= 1
                guard steps > 0 else { return nil }
                slot = (slot + 1) & mask
            }
            table[Int(slot)] = index
            index = tape.end(of: index + 1)
        }
        return table
    }

    private mutating func makeNames(_ object: UInt32, _ tape: TapeView) -> [ExactName: UInt32] {
        let head = tape[object]
        var names: [ExactName: UInt32] = [:]
        names.reserveCapacity(Int(head.length))
        var index = object + 1
        while index < head.link {
            let name = ExactName(tape.string(tape[index]))
            work &+= 1
            if names[name] == nil { names[name] = index }
            index = tape.end(of: index + 1)
        }
        return names
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
