internal import NIOCore

/// Whether a thread that waits for something quick keeps looking for it instead of going to sleep.
///
/// To sleep and be woken costs a thread 20 µs and more, as much as a small answer takes on the same machine. Linux knows
/// the remedy as busy polling, for network devices
/// ([socket(7)](https://man7.org/linux/man-pages/man7/socket.7.html), `SO_BUSY_POLL`); this is the same for loopback. Polling
/// takes processor time, so it has to be earned: by a row of quick waits, and after each poll in vain by one twice as long.
/// Where answers take longer than `limit`, as those of a FileMaker Server do, nobody polls.
///
/// Pure: time is passed in.
struct BusyPolling: Equatable, Sendable {
    /// So many quick waits in a row are worth a poll, at first and at most.
    static let row = 3...1000

    /// What is quick, and how long a poll may take.
    private let limit: TimeAmount
    private var began: NIODeadline?
    private var quickWaits = 0
    private var neededWaits = row.lowerBound

    init(limit: TimeAmount) { self.limit = limit }

    /// The wait begins, or still goes on.
    mutating func waitBegan(now: NIODeadline) { began = began ?? now }

    mutating func waitEnded(now: NIODeadline) {
        guard let began else { return }
        let wasPolled = deadline != nil
        self.began = nil
        if now < began.advanced(by: limit) {
            quickWaits += 1
            if wasPolled { neededWaits = Self.row.lowerBound }
        } else {
            quickWaits = 0
            if wasPolled { neededWaits = min(2 * neededWaits, Self.row.upperBound) }
        }
    }

    /// Until when to poll; `nil` is to sleep at once.
    var deadline: NIODeadline? { quickWaits < neededWaits ? nil : began.map { $0.advanced(by: limit) } }

    /// There is better use for the processor.
    mutating func forget() { quickWaits = 0 }
}
