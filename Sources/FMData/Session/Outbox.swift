import Foundation

/// What an object with a lock has yet to do outside of it: tell news, and run the effects of what has changed. One queue,
/// emptied by whoever puts something into it:
///
/// - News are told one at a time and in order. A thread that finds another one telling leaves its news to that one.
/// - Effects that follow from news are run when these have been told, so that who is reached by an effect finds the news said
///   everywhere. All other effects wait for nobody: whoever is told of something may take his time.
/// - A thread that is running effects runs those which they cause when they have returned, not inside of them: a thousand
///   requests that are answered at once, each handing its session to the next, do not pile up a thousand calls on the
///   stack. Any other thread that comes by may do it before.
///
/// Nothing stays behind: a thread leaves only what is taken up by one that is telling or running effects, when it has
/// finished that.
struct Outbox<News, Effect> {
    enum Entry {
        case news(News)
        case effects([Effect], followNews: Bool)
    }

    private var entries: [Entry] = []
    private var isTelling = false
    /// Those that are running effects.
    private var runners: Set<ThreadID> = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func post(_ news: News) {
        entries.append(.news(news))
    }

    /// - Parameter followNews: whether all news that were posted before have to be told first.
    mutating func post(_ effects: [Effect], followNews: Bool) {
        if !effects.isEmpty { entries.append(.effects(effects, followNews: followNews)) }
    }

    /// What the calling thread has to do now; `nil` when it may go.
    ///
    /// - Parameter last: what it was given before, and has done; `nil` the first time.
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

    /// In order: whatever is in front of news that are free is free as well, unless the thread is running effects.
    private func isFree(_ entry: Entry, mayRun: Bool) -> Bool {
        switch entry {
        case .news: !isTelling
        case .effects(_, let followNews): mayRun && !(followNews && isTelling)
        }
    }
}

/// The calling thread.
private struct ThreadID: Hashable {
    private let thread: pthread_t

    static var current: ThreadID { ThreadID(thread: pthread_self()) }
}
