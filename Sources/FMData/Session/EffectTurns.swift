import Foundation

/// Who runs which effects, when an effect causes others: the thread that is running effects runs those, too, one batch
/// after the other, instead of one inside the other.
struct EffectTurns<Effect> {
    /// The threads that run effects at this moment, and what their effects caused meanwhile.
    private var acting: [ThreadID: [Effect]] = [:]

    /// What this thread has to run now, and then `next()` until there is nothing; nothing at all when it is already
    /// running effects, further out on its stack.
    mutating func begin(_ effects: [Effect]) -> [Effect] {
        if effects.isEmpty { return [] }
        let isNested = acting[.current]?.append(contentsOf: effects) != nil
        if isNested { return [] }
        acting[.current] = []
        return effects
    }

    mutating func next() -> [Effect] {
        guard let more = acting[.current], !more.isEmpty else {
            acting[.current] = nil
            return []
        }
        acting[.current] = []
        return more
    }
}

/// The calling thread.
private struct ThreadID: Hashable {
    private let thread: pthread_t

    static var current: ThreadID { ThreadID(thread: pthread_self()) }
}
