/// What was learned of the keys of the values that were read last.
///
/// The records of an answer have the same keys in the same order, and a type asks for its keys in the same order each time.
/// So three things are remembered from one record to the next:
///
/// - which key stood at a place of the tape: it is compared before it is scanned, checked and hashed;
/// - which objects have no key twice, as long as their keys are the remembered ones;
/// - where the n-th question of a type was answered.
///
/// Each is a guess that is checked against the text before it is believed. What guesses do not answer is searched for; see
/// ``search(_:in:asker:_:)``.
final class KeyMemory {
    /// Places on the tape that are remembered, and questions of a type: a record of more than a hundred fields.
    private static let limit = 256
    /// Bytes of a key that are remembered, its quote and colon among them. Longer keys are read anew each time.
    private static let maximumLength = 32
    /// Types whose questions are remembered at the same time.
    private static let maximumTypes = 16

    /// The key at each place.
    private let known: UnsafeMutablePointer<KnownKey>
    /// For a place where an object begins that has no key twice: where it ends; otherwise 0.
    private let regularEnds: UnsafeMutablePointer<UInt16>
    /// The types that ask; the first one without a type is free.
    private let askers: UnsafeMutablePointer<Asker>
    /// For each type and each of its questions: how far from the object the key stood that answered it; 0 for none.
    private let answers: UnsafeMutablePointer<UInt16>
    private var nextAsker = 0
    /// The objects of the value on the tape that were searched often.
    private var searched: [UInt32: Searched] = [:]
    /// Rises when a key comes to stand where another one stood.
    private(set) var epoch = 0
    /// Keys that were looked at wherever a lookup goes beyond a guess: a measure of work for tests.
    var work = 0

    init() {
        known = .allocate(capacity: KeyMemory.limit)
        known.initialize(repeating: KnownKey(), count: KeyMemory.limit)
        regularEnds = .allocate(capacity: KeyMemory.limit)
        regularEnds.initialize(repeating: 0, count: KeyMemory.limit)
        askers = .allocate(capacity: KeyMemory.maximumTypes)
        askers.initialize(repeating: Asker(), count: KeyMemory.maximumTypes)
        answers = .allocate(capacity: KeyMemory.maximumTypes * KeyMemory.limit)
        answers.initialize(repeating: 0, count: KeyMemory.maximumTypes * KeyMemory.limit)
    }

    deinit {
        known.deallocate()
        regularEnds.deallocate()
        askers.deallocate()
        answers.deallocate()
    }

    /// The value on the tape goes away.
    func endValue() {
        if !searched.isEmpty { searched.removeAll(keepingCapacity: true) }
    }
}

// MARK: Keys as they are read

extension KeyMemory {
    /// A key as it stood in the text.
    private struct KnownKey {
        /// Its bytes, the quote that ends it and mostly a colon.
        var bytes = SIMD4<UInt64>()
        /// The bits of them that count.
        var mask = SIMD4<UInt64>()
        var hash: UInt32 = 0
        /// Bytes that are remembered; 0 for no key.
        var length: UInt8 = 0
        /// Bytes of the key alone.
        var keyLength: UInt8 = 0
        var flags: JSONTape.Entry.Flags = []
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
        // Nothing is known any more of the objects that it may be a key of.
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
}

// MARK: Keys that come twice

extension KeyMemory {
    /// Whether the object that was just closed has a key twice, or one with escapes, so that it may.
    @inline(__always)
    func mayRepeatKeys(_ object: UInt32, _ tape: JSONTape, _ text: UnsafePointer<UInt8>) -> Bool {
        // A flat object has its keys at the odd places: one that begins and ends where it did has the same keys, unless
        // one was learned since.
        if tape.count < KeyMemory.limit, tape.entries[Int(object)].isFlat(at: object) {
            if Int(regularEnds[Int(object)]) == tape.count { return false }
            if repeatsKeys(object, tape, text) { return true }
            regularEnds[Int(object)] = UInt16(tape.count)
            return false
        }
        return repeatsKeys(object, tape, text)
    }

    /// Whether the object has no key twice and nothing but plain values, and all its keys are remembered: another object that begins
    /// and ends where it does has the same ones, as long as ``epoch`` is the same.
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

    /// By the names themselves: whoever writes them can choose some of equal hashes.
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

// MARK: Questions

extension KeyMemory {
    /// A type of keys, and how far it has come in asking for the members of an object.
    private struct Asker {
        var type: ObjectIdentifier?
        var object: UInt32 = 0
        /// The number of the next question.
        var turn = 0
        /// The key after the one that answered the last question.
        var next: UInt32 = 0

        mutating func begin(_ object: UInt32) {
            self.object = object
            turn = 0
            next = object &+ 1
        }
    }

    /// A type is going to ask for the members of an object; the number under which it asks.
    ///
    /// Where several objects are asked by one type at the same time, or there are more types than are remembered, guesses
    /// fail and are no less checked.
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

    /// The value of the member with this name, if it is where it is expected: where this question was answered last time, or
    /// after the last answer. For objects in which every key stands for itself.
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

    /// The key that answers the question after a guess has failed.
    ///
    /// - Parameter asker: `nil` for a question out of turn, of which nothing is remembered.
    func search(_ name: String, in object: UInt32, asker: UInt8?, _ tape: TapeView) -> UInt32? {
        guard let asker = asker.map(Int.init) else { return find(name, in: object, from: object + 1, tape) }
        if askers[asker].object != object { askers[asker].begin(object) }
        let head = tape[object]
        let next = askers[asker].next
        guard let key = find(name, in: object, from: next < head.link ? next : object + 1, tape) else { return nil }
        remember(key, asker, head, tape)
        return key
    }

    /// Remembers which key answers the question just asked.
    private func remember(_ key: UInt32, _ asker: Int, _ head: JSONTape.Entry, _ tape: TapeView) {
        let object = askers[asker].object
        askers[asker].next = tape.end(of: key &+ 1)
        let turn = askers[asker].turn - 1
        guard turn >= 0, turn < KeyMemory.limit, head.isFlat(at: object) else { return }
        answers[asker * KeyMemory.limit + turn] = UInt16(exactly: key &- object) ?? 0
    }
}

// MARK: Searching

extension KeyMemory {
    /// An object that was searched.
    private struct Searched {
        /// How often its keys were gone through.
        var walks = 0
        /// Its keys by name, the first of each, once that pays.
        var names: [ExactName: UInt32]?
    }

    /// Objects of so few members are gone through each time.
    private static let fewMembers = 40
    /// So often larger ones are gone through before their names are collected.
    private static let maximumWalks = 6

    /// The key of exactly this name; the first one, where there are several.
    ///
    /// However many members an object has and whatever they are called, looking for each of them takes a time that grows as
    /// their number does.
    private func find(_ name: String, in object: UInt32, from start: UInt32, _ tape: TapeView) -> UInt32? {
        let head = tape[object]
        let isRegular = !head.flags.contains(.irregular)
        if isRegular, head.length <= KeyMemory.fewMembers { return walk(name, object, start, tape) }
        var searched = self.searched.removeValue(forKey: object) ?? Searched()
        defer { self.searched[object] = searched }
        if isRegular, searched.walks < KeyMemory.maximumWalks {
            searched.walks += 1
            return walk(name, object, start, tape)
        }
        if searched.names == nil { searched.names = collectNames(of: object, tape) }
        work &+= 1
        return searched.names?[ExactName(name)]
    }

    /// Goes through the keys of a regular object, from one of them on and round to it.
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
