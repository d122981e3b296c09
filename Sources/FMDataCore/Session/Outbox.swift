/// The work that an object with a lock must do outside of the lock: deliver notifications, and run the side effects of
/// a change. There is one queue; each thread that adds an entry then empties the queue:
///
/// - Notifications are delivered one at a time and in order. If another thread is delivering, it takes over the new
///   ones.
/// - Side effects with `followNews` run after the notifications posted before them, so that subscribers reached by such
///   a side effect find the notification delivered everywhere. All other side effects do not wait for notifications,
///   since a subscriber may take any time to handle one.
/// - Side effects that are caused by a thread's running side effects are run by that thread after those have returned,
///   not nested inside of them. So a thousand requests that are answered at once, each passing its session on to the
///   next, do not nest a thousand calls on the stack. Any other thread that empties the queue may run them earlier.
///
/// No entry is left over: a thread only leaves entries for a thread that is delivering or running side effects, and
/// that thread takes them when it has finished.
struct Outbox<News, Effect> {
    enum Entry {
        case news(News)
        case effects([Effect], followNews: Bool)
    }

    private var entries: [Entry] = []
    private var isTelling = false
    /// The threads that are running side effects.
    private var runners: Set<ThreadID> = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func post(_ news: News) {
        entries.append(.news(news))
    }

    /// - Parameter followNews: whether all notifications posted before must be delivered first.
    mutating func post(_ effects: [Effect], followNews: Bool) {
        if !effects.isEmpty { entries.append(.effects(effects, followNews: followNews)) }
    }

    /// Returns what the calling thread must do now; `nil` if it has nothing left to do.
    ///
    /// - Parameter last: the entry that this thread got from the previous call and has finished; `nil` on its first
    ///   call.
    mutating func next(after last: Entry? = nil) -> Entry? {
        switch last {
        case .news: isTelling = false
        case .effects: runners.remove(.current)
        case nil: break
        }
        if entries.isEmpty { return nil }
        let mayRun = !runners.contains(.current)
        guard let index = entries.firstIndex(where: { isFree($0, mayRun: mayRun) }) else { return nil }
        let entry = entries.remove(at: index)
        switch entry {
        case .news: isTelling = true
        case .effects: runners.insert(.current)
        }
        return entry
    }

    /// Entries run in order; notifications may overtake side effects only while this thread runs side effects.
    private func isFree(_ entry: Entry, mayRun: Bool) -> Bool {
        switch entry {
        case .news: !isTelling
        case .effects(_, let followNews): mayRun && !(followNews && isTelling)
        }
    }
}
