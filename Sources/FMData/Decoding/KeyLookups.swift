import Foundation

/// Finding the members of objects by name.
///
/// Two observations make this fast. A type asks for its keys in the same order each time, and the records of a table
/// have the same fields in the same order: so the place where the n-th question of a type was answered last time is
/// where its answer stands now, nearly always, and one comparison settles it. And where that fails, the next member
/// after the last one found is the best guess.
struct KeyLookups {
    /// Where the questions of one type of keys were answered.
    final class Trace {
        static let limit = 256

        let keyType: ObjectIdentifier
        /// For each question the distance of the key that answered it from its object.
        let steps: UnsafeMutablePointer<UInt32>
        /// The number of the next question.
        var turn = 0
        /// The object asked last, and the key after the one found in it.
        var object = JSONTape.none
        var next: UInt32 = 0

        init(keyType: ObjectIdentifier) {
            self.keyType = keyType
            steps = .allocate(capacity: Trace.limit)
            steps.initialize(repeating: 1, count: Trace.limit)
        }

        deinit {
            steps.deallocate()
        }
    }

    /// From this many members on, an object that is not asked in order gets an index.
    private static let largeObject = 40

    private var traces: [Trace] = []
    /// Object → table of its keys by hash; each slot holds the index of a key, 0 when free.
    private var indices: [UInt32: [UInt32]] = [:]

    mutating func reset() {
        if !indices.isEmpty { indices.removeAll() }
        for trace in traces { trace.object = JSONTape.none }
    }

    /// The trace for a container that begins to ask.
    mutating func trace(_ keyType: Any.Type, for object: UInt32) -> Trace {
        let id = ObjectIdentifier(keyType)
        let trace = traces.first { $0.keyType == id } ?? newTrace(id)
        trace.turn = 0
        trace.object = object
        trace.next = object + 1
        return trace
    }

    private mutating func newTrace(_ id: ObjectIdentifier) -> Trace {
        let trace = Trace(keyType: id)
        // Types of keys are few; a program that makes them without end starts over now and then.
        if traces.count == 64 { traces.removeAll() }
        traces.append(trace)
        return trace
    }

    /// The value of the member with this name; the first one when there are several.
    @inline(__always)
    mutating func value(
        named name: UnsafeBufferPointer<UInt8>,
        in object: UInt32,
        of document: JSONDocument,
        _ trace: Trace
    ) -> UInt32? {
        let entries = document.tape.entries
        let head = entries[Int(object)]
        let turn = trace.turn
        trace.turn = turn &+ 1
        guard !head.flags.contains(.irregular) else {
            return KeyLookups.walk(String(decoding: name, as: UTF8.self), object, document)
        }
        // A flat object has its keys at the odd places.
        let isFlat = head.link &- object == 2 &* head.length &+ 1
        if isFlat, turn < Trace.limit {
            let guess = object &+ trace.steps[turn]
            if guess < head.link, document.isEqual(entries[Int(guess)], name) {
                trace.next = guess &+ 2
                return guess &+ 1
            }
        }
        return search(name, object, head, document, trace, turn, isFlat)
    }

    private mutating func search(
        _ name: UnsafeBufferPointer<UInt8>,
        _ object: UInt32,
        _ head: JSONTape.Entry,
        _ document: JSONDocument,
        _ trace: Trace,
        _ turn: Int,
        _ isFlat: Bool
    ) -> UInt32? {
        let start = trace.object == object ? trace.next : object + 1
        guard
            let key = head.length > KeyLookups.largeObject
                ? searchLarge(name, object, head, document, from: start)
                : KeyLookups.scan(name, document, from: start, to: head.link)
                    ?? KeyLookups.scan(name, document, from: object + 1, to: start)
        else { return nil }
        if isFlat, turn < Trace.limit { trace.steps[turn] = key - object }
        trace.object = object
        trace.next = document.tape.end(of: key + 1)
        return key + 1
    }

    private static func scan(
        _ name: UnsafeBufferPointer<UInt8>,
        _ document: JSONDocument,
        from start: UInt32,
        to end: UInt32
    ) -> UInt32? {
        var index = start
        while index < end {
            if document.isEqual(document[index], name) { return index }
            index = document.tape.end(of: index + 1)
        }
        return nil
    }

    private mutating func searchLarge(
        _ name: UnsafeBufferPointer<UInt8>,
        _ object: UInt32,
        _ head: JSONTape.Entry,
        _ document: JSONDocument,
        from start: UInt32
    ) -> UInt32? {
        if start < head.link, document.isEqual(document[start], name) { return start }
        let table = indices[object] ?? makeIndex(object, head, document)
        let mask = UInt32(table.count - 1)
        var slot = JSONKeys.hash(of: name) & mask
        while table[Int(slot)] != 0 {
            let key = table[Int(slot)]
            if document.isEqual(document[key], name) { return key }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private mutating func makeIndex(_ object: UInt32, _ head: JSONTape.Entry, _ document: JSONDocument) -> [UInt32] {
        var size = 64
        while size < head.length * 2 { size *= 2 }
        let mask = UInt32(size - 1)
        var table = [UInt32](repeating: 0, count: size)
        var index = object + 1
        while index < head.link {
            var slot = document[index].link & mask
            while table[Int(slot)] != 0 { slot = (slot + 1) & mask }
            table[Int(slot)] = index
            index = document.tape.end(of: index + 1)
        }
        indices[object] = table
        return table
    }

    // MARK: Without guesses

    /// The slow and certain way: from the first key on, with escapes undone and Unicode's equivalences respected, as
    /// `String` compares.
    private static func walk(_ name: String, _ object: UInt32, _ document: JSONDocument) -> UInt32? {
        first(object, document) { document.text($0) == name }
    }

    /// The value of the first member with this name.
    static func find(_ name: String, _ object: UInt32, _ document: JSONDocument) -> UInt32? {
        var utf8 = name
        return utf8.withUTF8 { bytes in
            // A server may spell accents decomposed where the source code has them composed.
            if document[object].flags.contains(.irregular) || bytes.contains(where: { $0 >= 0x80 }) {
                return walk(name, object, document)
            }
            return first(object, document) { document.isEqual($0, bytes) }
        }
    }

    /// The value of the first member whose name ends with a separator and this name.
    static func find(after separator: String, _ name: String, _ object: UInt32, _ document: JSONDocument) -> UInt32? {
        let suffix = separator + name
        return first(object, document) { key in
            Int(key.length) > suffix.utf8.count && document.text(key).hasSuffix(suffix)
        }
    }

    private static func first(
        _ object: UInt32,
        _ document: JSONDocument,
        where matches: (JSONTape.Entry) -> Bool
    ) -> UInt32? {
        let end = document[object].link
        var index = object + 1
        while index < end {
            if matches(document[index]) { return index + 1 }
            index = document.tape.end(of: index + 1)
        }
        return nil
    }
}

extension JSONDocument {
    /// Whether a key without escapes is this name, byte for byte.
    @inline(__always)
    fileprivate func isEqual(_ key: JSONTape.Entry, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard Int(key.length) == name.count else { return false }
        guard let start = name.baseAddress else { return true }
        return memcmp(content(key).baseAddress!, start, name.count) == 0
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
