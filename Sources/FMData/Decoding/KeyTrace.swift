/// Where the questions of one type of keys were answered.
///
/// Two observations make lookups fast. A type asks for its keys in the same order each time, and the records of a table
/// have the same fields in the same order: so the place where the n-th question of a type was answered last time is
/// where its answer stands now, nearly always, and one comparison settles it. And where that fails, the next member
/// after the last one found is the best guess.
///
/// A place is a hint that is checked against the key itself before it is believed. Only where the reader vouches that the
/// keys at all places are those of the record before (``JSONKeyMemory/epoch``), and the question is the same case of the
/// same enum as then, is the answer known without looking.
struct KeyTrace {
    private static let limit = 256

    /// Where a question was answered.
    fileprivate struct Step {
        /// The distance of the key from its object.
        var distance: UInt32 = 1
        /// The question, where a byte holds it.
        var rawKey: UInt8 = 0
        /// The epoch and the object in which the key at this distance was seen to answer this question; 0 for none.
        var stamp: UInt64 = 0
    }

    fileprivate var keyType: ObjectIdentifier
    fileprivate let steps: UnsafeMutablePointer<Step>
    /// The epoch of the record that is being decoded.
    private var epoch: UInt64 = 0
    /// The number of the next question.
    private var turn = 0
    /// The object asked last, and the key after the one found in it.
    private var object = JSONTape.none
    private var next: UInt32 = 0

    fileprivate init(keyType: ObjectIdentifier) {
        self.keyType = keyType
        steps = .allocate(capacity: KeyTrace.limit)
        steps.initialize(repeating: Step(), count: KeyTrace.limit)
    }

    fileprivate mutating func forget(keyType: ObjectIdentifier) {
        self.keyType = keyType
        steps.update(repeating: Step(), count: KeyTrace.limit)
    }

    /// A container begins to ask.
    fileprivate mutating func begin(_ object: UInt32, _ epoch: UInt64) {
        turn = 0
        self.epoch = epoch
        self.object = object
        next = object + 1
    }

    @inline(__always)
    private func stamp(_ object: UInt32) -> UInt64 { epoch &<< 32 | UInt64(object) }

    /// The value of the member that answered this very question in the record before; 0 when that is not known.
    ///
    /// For flat objects all of whose keys are remembered.
    @inline(__always)
    mutating func recall(_ rawKey: UInt8, _ object: UInt32, _ end: UInt32) -> UInt32 {
        guard turn < KeyTrace.limit else { return 0 }
        let step = steps[turn]
        let key = object &+ step.distance
        guard step.stamp == stamp(object), step.rawKey == rawKey, key < end else { return 0 }
        turn &+= 1
        self.object = object
        next = key &+ 2
        return key &+ 1
    }

    /// The question just asked was answered by a guess: next time it need not be.
    @inline(__always)
    func remember(_ rawKey: UInt8, _ object: UInt32) {
        guard turn > 0, turn <= KeyTrace.limit else { return }
        steps[turn - 1].rawKey = rawKey
        steps[turn - 1].stamp = stamp(object)
    }

    /// The value of the member with this name, if it is where it is expected; 0 otherwise, which is no member's index.
    ///
    /// - Parameter isFlat: The object has no containers in it, so that its keys are at the odd places.
    @inline(__always)
    mutating func guess(
        _ name: UnsafeBufferPointer<UInt8>,
        _ object: UInt32,
        _ end: UInt32,
        isFlat: Bool,
        _ tape: TapeView
    ) -> UInt32 {
        let turn = turn
        self.turn = turn &+ 1
        if isFlat {
            guard turn < KeyTrace.limit else { return 0 }
            let guess = object &+ steps[turn].distance
            guard guess < end, tape.isEqual(tape[guess], name) else { return 0 }
            next = guess &+ 2
            self.object = object
            return guess &+ 1
        }
        guard self.object == object, next < end, tape.isEqual(tape[next], name) else { return 0 }
        let value = next &+ 1
        next = tape.end(of: value)
        return value
    }

    /// The key with which a search had best begin.
    func searchStart(in object: UInt32, _ end: UInt32) -> UInt32 {
        self.object == object && next < end ? next : object + 1
    }

    /// The search for the question just asked ended at a key.
    mutating func found(_ key: UInt32, in object: UInt32, isFlat: Bool, _ tape: TapeView) {
        if isFlat, turn > 0, turn <= KeyTrace.limit { steps[turn - 1] = Step(distance: key - object) }
        self.object = object
        next = tape.end(of: key + 1)
    }
}

/// The traces of all types of keys.
struct KeyTraces {
    /// Types of keys are few. A program that makes them without end has them share.
    private static let limit = 64

    private var traces: [UnsafeMutablePointer<KeyTrace>] = []
    private var nextShared = 0

    func deallocate() {
        for trace in traces {
            trace.pointee.steps.deallocate()
            trace.deallocate()
        }
    }

    /// The trace for a container that begins to ask. It lives as long as the context.
    mutating func trace(
        _ keyType: Any.Type,
        _ object: UInt32,
        _ epoch: UInt64
    ) -> UnsafeMutablePointer<KeyTrace> {
        let id = ObjectIdentifier(keyType)
        for trace in traces where trace.pointee.keyType == id {
            trace.pointee.begin(object, epoch)
            return trace
        }
        let trace = newTrace(id)
        trace.pointee.begin(object, epoch)
        return trace
    }

    private mutating func newTrace(_ id: ObjectIdentifier) -> UnsafeMutablePointer<KeyTrace> {
        guard traces.count == KeyTraces.limit else {
            let trace = UnsafeMutablePointer<KeyTrace>.allocate(capacity: 1)
            trace.initialize(to: KeyTrace(keyType: id))
            traces.append(trace)
            return trace
        }
        nextShared = (nextShared + 1) % KeyTraces.limit
        // Nothing that was known of the old type holds for the new one.
        traces[nextShared].pointee.forget(keyType: id)
        return traces[nextShared]
    }
}
