internal import Dispatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The background threads that values are delivered on.
///
/// Each begins on a serial queue of its own, because Dispatch adds a thread for each such queue even if many are
/// blocked; its global queues do not promise that.
package enum DeliveryThread {
    /// Marks a thread while it is one of them. A `DispatchSpecificKey` would cost each call a microsecond.
    ///
    /// It is `nil` if the process has used up its keys. Then no thread counts as one of them, and more is handed over.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Whether the calling code runs on one of them.
    package static var isCurrent: Bool { key.flatMap { pthread_getspecific($0) } != nil }

    /// Runs the work on a further one.
    package static func start(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "FMHTTP.delivery").async {
            mark(UnsafeRawPointer(bitPattern: 1))
            defer { mark(nil) }
            work()
        }
    }

    private static func mark(_ mark: UnsafeRawPointer?) {
        if let key { pthread_setspecific(key, mark) }
    }

    /// Runs the work on one of them: at once if the calling code does so already.
    package static func run(_ work: @escaping @Sendable () -> Void) {
        if isCurrent { work() } else { start(work) }
    }
}
