import Foundation

/// Where keyed containers find their context.
///
/// The standard library copies a container for each value that is asked of it. A container that holds its context pays for
/// two atomic operations each time, a tenth of all decoding; one that holds plain pointers pays for nothing, but may be
/// kept by its type for later, when those pointers lead nowhere. So a container holds a pointer to a slot, which is never
/// freed, and the generation that the slot had. The generation changes when what a container points to is freed, and a
/// container of an old generation knows that it is too late. One that is merely of an earlier value sees that by the
/// number of the value in its ``KeyFrame``.
struct ContextSlot {
    private(set) var generation: UInt32 = 0
    /// Counts the values that are decoded, and the ends of it.
    private(set) var value: UInt64 = 0
    /// The tape of the value that is being decoded.
    fileprivate(set) var tape: TapeView?
    /// Alive as long as the generation stands; unmanaged, so that nobody counts a reference to look at it.
    fileprivate(set) var context: Unmanaged<DecodingContext>?

    /// The containers of the value that was being decoded become useless.
    fileprivate mutating func nextValue(_ tape: TapeView?) {
        value &+= 1
        self.tape = tape
    }

    /// Makes all containers useless: their frames are going to be freed.
    fileprivate mutating func invalidate() {
        generation &+= 1
        nextValue(nil)
    }
}

/// The slot that belongs to a context.
struct OwnSlot {
    let pointer: UnsafeMutablePointer<ContextSlot>

    init() {
        pointer = SlotPool.take()
    }

    /// A value of the context is going to be decoded.
    func open(_ context: DecodingContext) {
        pointer.pointee.context = Unmanaged.passUnretained(context)
        pointer.pointee.nextValue(context.view)
    }

    /// The value goes away.
    func close() {
        pointer.pointee.nextValue(nil)
    }

    /// The frames go away.
    func invalidate() {
        pointer.pointee.invalidate()
    }

    /// The context goes away.
    func giveBack() {
        abandon()
        SlotPool.give(pointer)
    }

    /// The context goes away, and somebody keeps a container that will look here: so no other context may ever have this slot,
    /// for they may be on different threads. Its 40 bytes are the price of keeping a container.
    func abandon() {
        pointer.pointee.invalidate()
        pointer.pointee.context = nil
    }
}

/// Slots that no context uses: as many as there ever were contexts at the same time.
private enum SlotPool {
    private static let lock = NSLock()
    // Only touched under the lock.
    nonisolated(unsafe) private static var free: [UnsafeMutablePointer<ContextSlot>] = []

    static func take() -> UnsafeMutablePointer<ContextSlot> {
        if let slot = lock.withLock({ free.popLast() }) { return slot }
        let slot = UnsafeMutablePointer<ContextSlot>.allocate(capacity: 1)
        slot.initialize(to: ContextSlot())
        return slot
    }

    static func give(_ slot: UnsafeMutablePointer<ContextSlot>) {
        lock.withLock { free.append(slot) }
    }
}
