/// Where the questions of one type of keys were answered.
///
/// Two observations make lookups fast. A type asks for its keys in the same order each time, and the records of a table
/// have the same fields in the same order: so the place where the n-th question of a type was answered last time is
/// where its answer stands now, nearly always, and one comparison settles it. And where that fails, the next member
/// after the last one found is the best guess.
///
/// Everything here is a hint that is checked against the key itself before it is believed.
struct KeyTrace {
    private static let limit = 256

    fileprivate var keyType: ObjectIdentifier
    /// For each question the distance of the key that answered it from its object.
    fileprivate let steps: UnsafeMutablePointer<UInt32>
    /// The number of the next question.
    private var turn = 0
    /// The object asked last, and the key after the one found in it.
    private var object = JSONTape.none
    private var next: UInt32 = 0

    fileprivate init(keyType: ObjectIdentifier) {
        self.keyType = keyType
        steps = .allocate(capacity: KeyTrace.limit)
        steps.initialize(repeating: 1, count: KeyTrace.limit)
    }

    /// A container begins to ask.
    fileprivate mutating func begin(_ object: UInt32) {
        turn = 0
        self.object = object
        next = object + 1
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
            let guess = object &+ steps[turn]
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
        if isFlat, turn > 0, turn <= KeyTrace.limit { steps[turn - 1] = key - object }
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
    mutating func trace(_ keyType: Any.Type, _ object: UInt32) -> UnsafeMutablePointer<KeyTrace> {
        let id = ObjectIdentifier(keyType)
        for trace in traces where trace.pointee.keyType == id {
            trace.pointee.begin(object)
            return trace
        }
        let trace = newTrace(id)
        trace.pointee.begin(object)
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
        traces[nextShared].pointee.keyType = id
        return traces[nextShared]
    }
}
