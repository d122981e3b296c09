/// Remembers the keys of the values read before.
///
/// The records of an answer have the same keys in the same order, and a type requests its keys in the same order each
/// time. So three things are remembered from one record to the next:
///
/// - the key at each place of the tape, which is compared with the text before the text is scanned, checked and hashed;
/// - the objects that have no key twice, as long as their keys are the remembered ones;
/// - the place of the key that answered the n-th request of a type.
///
/// Each is a guess that is checked against the text before it is used. If a guess fails, the key is searched for; see
/// ``search(_:in:asker:_:)``.
final class KeyMemory {
    /// The number of places on the tape, and of requests per type, that are remembered: enough for a record of more
    /// than a hundred fields.
    private static let limit = 256
    /// The greatest number of bytes of a key that are remembered, including its quote and colon. Longer keys are read
    /// anew each time.
    private static let maximumLength = 32
    /// The number of types whose requests are remembered at the same time.
    private static let maximumTypes = 16

    /// The key at each place.
    private let known: UnsafeMutablePointer<KnownKey>
    /// Per place: if an object without repeated keys begins there, the index of its end; otherwise 0.
    private let regularEnds: UnsafeMutablePointer<UInt16>
    /// The types that request keys; the first entry without a type is free.
    private let askers: UnsafeMutablePointer<KeyRequests>
    /// Per key type and request: the offset from the object at which the key was found last time; 0 if unknown.
    private let answers: UnsafeMutablePointer<UInt16>
    private var nextAsker = 0
    /// The objects of the value on the tape that needed many searches.
    private var searched: [UInt32: SearchedObject] = [:]
    /// Rises when a place of the tape gets another key.
    private(set) var epoch = 0
    /// The number of keys compared by lookups beyond a guess: a measure of work for tests.
    var work = 0

    init() {
        known = .allocate(capacity: KeyMemory.limit)
        known.initialize(repeating: KnownKey(), count: KeyMemory.limit)
        regularEnds = .allocate(capacity: KeyMemory.limit)
        regularEnds.initialize(repeating: 0, count: KeyMemory.limit)
        askers = .allocate(capacity: KeyMemory.maximumTypes)
        askers.initialize(repeating: KeyRequests(), count: KeyMemory.maximumTypes)
        answers = .allocate(capacity: KeyMemory.maximumTypes * KeyMemory.limit)
        answers.initialize(repeating: 0, count: KeyMemory.maximumTypes * KeyMemory.limit)
    }

    deinit {
        known.deallocate()
        regularEnds.deallocate()
        askers.deallocate()
        answers.deallocate()
    }

    /// Drops what belongs to the value on the tape only.
    func endValue() {
        if !searched.isEmpty { searched.removeAll(keepingCapacity: true) }
    }
}

// MARK: Keys in reading order

extension KeyMemory {
    /// A key as it is in the text.
    private struct KnownKey {
        /// The bytes of the key, its closing quote and, usually, a colon.
        var bytes = SIMD4<UInt64>()
        /// A mask of the bits that count.
        var mask = SIMD4<UInt64>()
        var hash: UInt32 = 0
        /// The number of bytes remembered; 0 for no key.
        var length: UInt8 = 0
        /// The number of bytes of the key alone.
        var keyLength: UInt8 = 0
        var flags: JSONTape.Entry.Flags = []
    }

    /// A key that is the same as last time at its place.
    struct Match {
        var entry: JSONTape.Entry
        /// The index of the byte after its quote, or after its colon.
        var next: Int
        /// Whether the compared bytes include the colon.
        var hasColon: Bool
    }

    /// The key whose content begins at `offset`, if it is the same as last time at its place.
    ///
    /// It reads 32 bytes, which the padding allows. A key that has not arrived in full is never equal, because its
    /// closing quote is missing.
    @inline(__always)
    func match(at place: Int, _ base: UnsafePointer<UInt8>, _ offset: Int) -> Match? {
        guard place < KeyMemory.limit else { return nil }
        let key = known + place
        guard key.pointee.length > 0 else { return nil }
        let text = UnsafeRawPointer(base + offset).loadUnaligned(as: SIMD4<UInt64>.self)
        let difference = (text ^ key.pointee.bytes) & key.pointee.mask
        guard difference[0] | difference[1] | difference[2] | difference[3] == 0 else { return nil }
        return Match(
            entry: JSONTape.Entry(
                offset: UInt32(truncatingIfNeeded: offset),
                length: UInt32(key.pointee.keyLength),
                link: key.pointee.hash,
                kind: .key,
                flags: key.pointee.flags
            ),
            next: offset &+ Int(key.pointee.length),
            hasColon: key.pointee.length &- key.pointee.keyLength == 2
        )
    }

    /// Remembers a key that was not the expected one.
    func learn(_ key: JSONTape.Entry, at place: Int, _ base: UnsafePointer<UInt8>) {
        guard place < KeyMemory.limit else { return }
        epoch += 1
        // The objects that may contain this key lose their remembered ends.
        for object in 0..<place where Int(regularEnds[object]) > place { regularEnds[object] = 0 }
        let text = base + Int(key.offset)
        let length = Int(key.length) + (text[Int(key.length) + 1] == UInt8(ascii: ":") ? 2 : 1)
        guard length <= KeyMemory.maximumLength else {
            known[place].length = 0
            return
        }
        var mask = SIMD4<UInt64>()
        for word in 0..<4 {
            let bytes = min(8, max(0, length - word * 8))
            mask[word] = bytes == 8 ? .max : ((1 << UInt64(bytes * 8)) - 1).littleEndian
        }
        known[place] = KnownKey(
            bytes: UnsafeRawPointer(text).loadUnaligned(as: SIMD4<UInt64>.self),
            mask: mask,
            hash: key.link,
            length: UInt8(length),
            keyLength: UInt8(key.length),
            flags: key.flags
        )
    }

    /// A hash of the bytes as they are in the text. The padding after the text allows reading past its end.
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
}

// MARK: Repeated keys

extension KeyMemory {
    /// Whether the object that was just closed has a key twice, or an escaped key, which may be a repeated one.
    @inline(__always)
    func mayRepeatKeys(_ object: UInt32, _ tape: JSONTape, _ text: UnsafePointer<UInt8>) -> Bool {
        // The keys of a flat object are at the odd places. If it begins and ends where a known object did, it has the
        // same keys, unless one was learned since.
        if tape.count < KeyMemory.limit, tape.entries[Int(object)].isFlat(at: object) {
            if Int(regularEnds[Int(object)]) == tape.count { return false }
            if repeatsKeys(object, tape, text) { return true }
            regularEnds[Int(object)] = UInt16(tape.count)
            return false
        }
        return repeatsKeys(object, tape, text)
    }

    /// Whether the object has no key twice and only plain values, and all its keys are remembered. Another object that
    /// begins and ends at the same places has the same keys, as long as ``epoch`` is the same.
    @inline(__always)
    func hasKnownKeys(_ object: UInt32, _ head: JSONTape.Entry) -> Bool {
        head.link < KeyMemory.limit && regularEnds[Int(object)] == UInt16(truncatingIfNeeded: head.link)
    }

    private func repeatsKeys(_ object: UInt32, _ tape: JSONTape, _ text: UnsafePointer<UInt8>) -> Bool {
        let count = Int(tape.entries[Int(object)].length)
        guard count > 1 else { return tape.entries[Int(object) + 1].flags.contains(.escaped) }
        return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: count) { hashes in
            var index = object + 1
            for number in 0..<count {
                let key = tape.entries[Int(index)]
                if key.flags.contains(.escaped) { return true }
                hashes.initializeElement(at: number, to: key.link)
                index = tape.end(of: index + 1)
            }
            var sorted = hashes
            sorted.sort()
            return (1..<count).contains { sorted[$0 - 1] == sorted[$0] } && repeatsNames(object, tape, text)
        }
    }

    /// Compares the names themselves, because a sender can choose names with equal hashes.
    private func repeatsNames(_ object: UInt32, _ tape: JSONTape, _ text: UnsafePointer<UInt8>) -> Bool {
        var names: Set<ExactName> = []
        var index = object + 1
        while index < tape.count {
            let key = tape.entries[Int(index)]
            let bytes = UnsafeBufferPointer(start: text + Int(key.offset), count: Int(key.length))
            if !names.insert(ExactName(JSONText.string(bytes, key.flags))).inserted { return true }
            index = tape.end(of: index + 1)
        }
        return false
    }
}

// MARK: Requests

extension KeyMemory {
    /// A type of keys, and its progress in requesting the members of an object.
    private struct KeyRequests {
        var type: ObjectIdentifier?
        var object: UInt32 = 0
        /// The number of the next request.
        var turn = 0
        /// The key after the one that answered the last request.
        var next: UInt32 = 0

        mutating func begin(_ object: UInt32) {
            self.object = object
            turn = 0
            next = object &+ 1
        }
    }

    /// Prepares for a type's requests for the members of an object. Returns the number of the type.
    ///
    /// If one type requests members of several objects at the same time, or if there are more types than are
    /// remembered, guesses fail; they are checked all the same.
    @inline(__always)
    func beginAsking(_ type: any CodingKey.Type, _ object: UInt32) -> UInt8 {
        let type = ObjectIdentifier(type)
        for number in 0..<KeyMemory.maximumTypes {
            guard let known = askers[number].type else { break }
            guard known == type else { continue }
            askers[number].begin(object)
            return UInt8(truncatingIfNeeded: number)
        }
        return addAsker(type, object)
    }

    private func addAsker(_ type: ObjectIdentifier, _ object: UInt32) -> UInt8 {
        let number = nextAsker
        nextAsker = (number + 1) % KeyMemory.maximumTypes
        askers[number].type = type
        askers[number].begin(object)
        (answers + number * KeyMemory.limit).update(repeating: 0, count: KeyMemory.limit)
        return UInt8(number)
    }

    /// The value of the member with this name, if it is at an expected place: where this request was answered last
    /// time, or after the last answer. Only for objects whose names need no conversion and do not repeat.
    @inline(__always)
    func guess(
        _ name: UnsafeBufferPointer<UInt8>,
        _ asker: UInt8,
        _ object: UInt32,
        _ tape: TapeView
    ) -> UInt32? {
        let head = tape[object]
        let asker = Int(asker)
        let state = askers + asker
        if state.pointee.object != object { state.pointee.begin(object) }
        let turn = state.pointee.turn
        state.pointee.turn = turn &+ 1
        if turn < KeyMemory.limit, head.isFlat(at: object) {
            let key = object &+ UInt32(answers[asker &* KeyMemory.limit &+ turn])
            if key > object, key < head.link, tape.isEqual(tape[key], name) {
                state.pointee.next = key &+ 2
                return key &+ 1
            }
        }
        let key = state.pointee.next
        guard key < head.link, tape.isEqual(tape[key], name) else { return nil }
        remember(key, asker, head, tape)
        return key &+ 1
    }

    /// Finds the key after a guess has failed.
    ///
    /// - Parameter asker: `nil` for a request out of order, for which nothing is remembered.
    func search(_ name: String, in object: UInt32, asker: UInt8?, _ tape: TapeView) -> UInt32? {
        guard let asker = asker.map(Int.init) else { return find(name, in: object, from: object + 1, tape) }
        if askers[asker].object != object { askers[asker].begin(object) }
        let head = tape[object]
        let next = askers[asker].next
        guard let key = find(name, in: object, from: next < head.link ? next : object + 1, tape) else { return nil }
        remember(key, asker, head, tape)
        return key
    }

    /// Remembers the key that answers the current request.
    private func remember(_ key: UInt32, _ asker: Int, _ head: JSONTape.Entry, _ tape: TapeView) {
        let object = askers[asker].object
        askers[asker].next = tape.end(of: key &+ 1)
        let turn = askers[asker].turn - 1
        guard turn >= 0, turn < KeyMemory.limit, head.isFlat(at: object) else { return }
        answers[asker * KeyMemory.limit + turn] = UInt16(exactly: key &- object) ?? 0
    }
}

// MARK: Search

extension KeyMemory {
    /// The state of an object that was searched.
    private struct SearchedObject {
        /// The number of times that its keys were walked through.
        var walks = 0
        /// Its keys by name, the first of each; `nil` until the collection pays off.
        var names: [ExactName: UInt32]?
    }

    /// Objects with at most this number of members are walked through each time.
    private static let fewMembers = 40
    /// Larger objects are walked through this number of times before their names are collected.
    private static let maximumWalks = 6

    /// The key of exactly this name; the first one, if there are several.
    ///
    /// Looking up all members of an object takes time proportional to their number, for any number and names.
    private func find(_ name: String, in object: UInt32, from start: UInt32, _ tape: TapeView) -> UInt32? {
        let head = tape[object]
        let isRegular = !head.flags.contains(.irregular)
        if isRegular, head.length <= KeyMemory.fewMembers { return walk(name, object, start, tape) }
        var searched = self.searched.removeValue(forKey: object) ?? SearchedObject()
        defer { self.searched[object] = searched }
        if isRegular, searched.walks < KeyMemory.maximumWalks {
            searched.walks += 1
            return walk(name, object, start, tape)
        }
        if searched.names == nil { searched.names = collectNames(of: object, tape) }
        work &+= 1
        return searched.names?[ExactName(name)]
    }

    /// Walks through the keys of a regular object, from `start` to the end and then from its beginning.
    private func walk(_ name: String, _ object: UInt32, _ start: UInt32, _ tape: TapeView) -> UInt32? {
        var name = name
        return name.withUTF8 { name in
            walk(name, start, tape[object].link, tape) ?? walk(name, object + 1, start, tape)
        }
    }

    private func walk(
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

    private func collectNames(of object: UInt32, _ tape: TapeView) -> [ExactName: UInt32] {
        let head = tape[object]
        var names: [ExactName: UInt32] = [:]
        names.reserveCapacity(Int(head.length))
        var index = object + 1
        while index < head.link {
            work &+= 1
            let name = ExactName(tape.string(tape[index]))
            if names[name] == nil { names[name] = index }
            index = tape.end(of: index + 1)
        }
        return names
    }
}
