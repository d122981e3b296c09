import Foundation

/// The calling thread.
struct ThreadID: Hashable {
    private let thread: pthread_t

    static var current: ThreadID { ThreadID(thread: pthread_self()) }
}
