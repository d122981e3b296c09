/// The object that a container of keys is about, and where the questions of its type were answered.
///
/// Two observations make lookups fast. A type asks for its keys in the same order each time, and the records of a table
/// have the same fields in the same order: so the place where the n-th question of a type was answered last time is
/// where its answer stands now, nearly always, and one comparison settles it. And where that fails, the next member
/// after the last one found is the best guess.
///
/// A place is a hint that is checked against the key itself before it is believed. Only where the reader vouches that the
/// keys at all places are those of the record before (``JSONKeyMemory/epoch``), and the question is the same case of the
/// same enum as then, is the answer known without looking.
///
/// There is one frame for each type of keys and place of an object on the tape. It stays from one record to the next.
struct KeyFrame {
    private static let limit = 256

    /// Where a question was answered.
    private struct Step {
        /// The epoch in which the key at this distance was seen to answer this question; 0 for none.
        var epoch: UInt64
        /// The distance of the key from its object.
        var distance: UInt32
        /// The question, where a byte holds it.
        var rawKey: UInt8
    }

    let keyType: ObjectIdentifier
    private(set) var object: UInt32
    /// The index after the last member.
    private(set) var end: UInt32 = 0
    /// Whether the object has no containers in it, so that its keys are at the odd places.
    private(set) var isFlat = false
    /// Whether names stand for themselves.
    private(set) var isGuessable = false
    /// Whether the reader vouches for the keys of the object, and keys are told apart by a byte.
    private(set) var isRecallable = false
    private(set) var mode = DecodingContext.Mode.plain
    /// The mode of the members.
    private(set) var inside = DecodingContext.Mode.plain
    /// The number of the value that the object is part of; see ``ContextSlot/value``.
    private(set) var value: UInt64 = 0

    /// The container of the standard library that holds the container of this frame, to be handed out again.
    fileprivate var shell: AnyObject?

    private var epoch: UInt64 = 0
    /// The number of the next question.
    private var turn = 0
    /// The key after the one found last.
    private var next: UInt32 = 0
    private var steps: UnsafeMutablePointer<Step>
    private var stepCount = 0
    private var stepCapacity = 32

    fileprivate init(_ keyType: ObjectIdentifier, _ object: UInt32) {
        self.keyType = keyType
        self.object = object
        steps = .allocate(capacity: stepCapacity)
    }

    fileprivate func deallocate() {
        steps.deallocate()
    }

    /// Another object of the same type of keys: the places are still good guesses, but nobody vouches for them.
    fileprivate mutating func move(to object: UInt32) {
        self.object = object
        for turn in 0..<stepCount { steps[turn].epoch = 0 }
    }

    /// A container begins to ask.
    fileprivate mutating func begin(_ mode: DecodingContext.Mode, _ context: DecodingContext, hasByteKeys: Bool) {
        let slot = context.slot.pointer
        let head = context.document[object]
        value = slot.pointee.value
        epoch = context.document.keyMemory.epoch
        turn = 0
        next = object &+ 1
        end = head.link
        isFlat = head.isFlat(at: object)
        self.mode = mode
        inside = mode.inside
        isGuessable =
            !head.flags.contains(.irregular) && !(mode == .fields && context.rules.contains(.customKeys))
        isRecallable = isGuessable && isFlat && hasByteKeys && Int(end) <= JSONKeyMemory.limit
    }

    /// The value of the member that answered this very question in the record before; 0 when that is not known.
    ///
    /// For flat objects all of whose keys are remembered.
    @inline(__always)
    mutating func recall(_ rawKey: UInt8) -> UInt32 {
        guard turn < stepCount else { return 0 }
        let step = steps[turn]
        let key = object &+ step.distance
        guard step.epoch == epoch, step.rawKey == rawKey, key < end else { return 0 }
        turn &+= 1
        next = key &+ 2
        return key &+ 1
    }

    /// The value of the member with this name, if it is where it is expected; 0 otherwise, which is no member's index.
    ///
    /// - Parameter rawKey: The question, where a byte holds it: next time no name is needed.
    mutating func guess(_ name: UnsafeBufferPointer<UInt8>, _ rawKey: UInt8, _ tape: TapeView) -> UInt32 {
        let isRemembered = isFlat && turn < stepCount
        let key = isRemembered ? object &+ steps[turn].distance : next
        turn &+= 1
        guard key < end, tape.isEqual(tape[key], name) else { return 0 }
        let value = key &+ 1
        next = tape.end(of: value)
        if isFlat {
            setStep(Step(epoch: isRecallable ? epoch : 0, distance: key &- object, rawKey: rawKey))
        }
        return value
    }

    /// The key with which a search had best begin.
    var searchStart: UInt32 { next < end ? next : object + 1 }

    /// The search for the question just asked ended at a key.
    mutating func found(_ key: UInt32, _ tape: TapeView) {
        if isFlat { setStep(Step(epoch: 0, distance: key - object, rawKey: 0)) }
        next = tape.end(of: key + 1)
    }

    /// Remembers where the question just asked was answered.
    private mutating func setStep(_ step: Step) {
        guard turn > 0, turn <= KeyFrame.limit else { return }
        if turn > stepCapacity {
            let more = UnsafeMutablePointer<Step>.allocate(capacity: KeyFrame.limit)
            more.moveInitialize(from: steps, count: stepCount)
            steps.deallocate()
            steps = more
            stepCapacity = KeyFrame.limit
        }
        // Questions in between had no answer.
        while stepCount < turn {
            (steps + stepCount).initialize(to: Step(epoch: 0, distance: 1, rawKey: 0))
            stepCount += 1
        }
        steps[turn - 1] = step
    }
}

/// The frames of a context, and the containers that go with them.
///
/// Making a container of the standard library takes an allocation and several searches for its generic types, which is
/// longer than decoding a few fields. So it is kept and handed out again for the object that takes the same place in the
/// next record, unless somebody still holds it.
struct KeyFrames {
    /// A frame is at the slot that its type and place lead to, or at one of those that follow.
    private static let slots = 64 + neighbours - 1
    private static let neighbours = 4

    private var frames: UnsafeMutablePointer<UnsafeMutablePointer<KeyFrame>?>
    /// Frames that had to make room while somebody still held their container.
    private var retired: [UnsafeMutablePointer<KeyFrame>] = []

    init() {
        frames = .allocate(capacity: KeyFrames.slots)
        frames.initialize(repeating: nil, count: KeyFrames.slots)
    }

    /// Frees all frames. No container may use its frame any more: the generation of their slot has to be another.
    mutating func removeAll() {
        for slot in 0..<KeyFrames.slots {
            if let frame = frames[slot] { KeyFrames.free(frame) }
            frames[slot] = nil
        }
        retired.forEach(KeyFrames.free)
        retired.removeAll()
    }

    func deallocate() {
        frames.deallocate()
    }

    var hasRetired: Bool { !retired.isEmpty }

    /// Whether somebody holds on to a container that was handed out.
    var areHeld: Bool {
        hasRetired
            || (0..<KeyFrames.slots).contains { slot in
                guard let frame = frames[slot], frame.pointee.shell != nil else { return false }
                return !isKnownUniquelyReferenced(&frame.pointee.shell)
            }
    }

    private static func free(_ frame: UnsafeMutablePointer<KeyFrame>) {
        frame.pointee.deallocate()
        frame.deinitialize(count: 1)
        frame.deallocate()
    }

    /// Whether a container of the standard library is nothing but a reference, as it is in all versions there are. Were
    /// it something else, none would be kept.
    private static let shellsAreReferences =
        MemoryLayout<KeyedDecodingContainer<DecodingKey>>.size == MemoryLayout<AnyObject>.size

    /// The container for an object on the tape.
    @inline(__always)
    mutating func container<Key: CodingKey>(
        _ type: Key.Type,
        _ object: UInt32,
        _ mode: DecodingContext.Mode,
        _ context: DecodingContext
    ) -> KeyedDecodingContainer<Key> {
        let id = ObjectIdentifier(type)
        let home = KeyFrames.home(id, object)
        for slot in home..<home + KeyFrames.neighbours {
            guard let frame = frames[slot] else { break }
            guard frame.pointee.keyType == id, frame.pointee.object == object else { continue }
            // Containers of one object of one value are as good as the same.
            let isSame = frame.pointee.value == context.slot.pointer.pointee.value && frame.pointee.mode == mode
            guard frame.pointee.shell != nil, isSame || isKnownUniquelyReferenced(&frame.pointee.shell) else {
                return newContainer(type, object, mode, context, slot)
            }
            return reuse(frame, as: type, mode, context)
        }
        return anotherContainer(type, object, mode, context, home)
    }

    @inline(__always)
    private func reuse<Key: CodingKey>(
        _ frame: UnsafeMutablePointer<KeyFrame>,
        as type: Key.Type,
        _ mode: DecodingContext.Mode,
        _ context: DecodingContext
    ) -> KeyedDecodingContainer<Key> {
        frame.pointee.begin(mode, context, hasByteKeys: KeyedValues<Key>.hasByteKeys)
        // What is there is what was put there for the same type of keys.
        return unsafeBitCast(frame.pointee.shell, to: KeyedDecodingContainer<Key>.self)
    }

    /// The container for an object that has no frame: in a free slot, or in the place of one of the same type that nobody
    /// holds any more, as the objects of a long array do.
    private mutating func anotherContainer<Key: CodingKey>(
        _ type: Key.Type,
        _ object: UInt32,
        _ mode: DecodingContext.Mode,
        _ context: DecodingContext,
        _ home: Int
    ) -> KeyedDecodingContainer<Key> {
        for slot in home..<home + KeyFrames.neighbours {
            guard let frame = frames[slot] else { return newContainer(type, object, mode, context, slot) }
            guard frame.pointee.keyType == ObjectIdentifier(type), isKnownUniquelyReferenced(&frame.pointee.shell)
            else { continue }
            frame.pointee.move(to: object)
            return reuse(frame, as: type, mode, context)
        }
        return newContainer(type, object, mode, context, home)
    }

    private mutating func newContainer<Key: CodingKey>(
        _ type: Key.Type,
        _ object: UInt32,
        _ mode: DecodingContext.Mode,
        _ context: DecodingContext,
        _ slot: Int
    ) -> KeyedDecodingContainer<Key> {
        if let old = frames[slot] {
            if old.pointee.shell == nil || !isKnownUniquelyReferenced(&old.pointee.shell) {
                retired.append(old)
            } else {
                KeyFrames.free(old)
            }
        }
        let frame = UnsafeMutablePointer<KeyFrame>.allocate(capacity: 1)
        frame.initialize(to: KeyFrame(ObjectIdentifier(type), object))
        frame.pointee.begin(mode, context, hasByteKeys: KeyedValues<Key>.hasByteKeys)
        let container = KeyedDecodingContainer(KeyedValues<Key>(context.slot.pointer, frame))
        if KeyFrames.shellsAreReferences { frame.pointee.shell = unsafeBitCast(container, to: AnyObject.self) }
        frames[slot] = frame
        return container
    }

    /// The first of the slots where a frame may be.
    @inline(__always)
    private static func home(_ type: ObjectIdentifier, _ object: UInt32) -> Int {
        let hash = (UInt(bitPattern: type) >> 4 &+ UInt(object)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: hash >> (UInt(UInt.bitWidth) - 6))
    }
}
