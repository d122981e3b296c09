/// The numbers of connections and waiting requests, for tests, which expect all zeros at the end.
package struct PoolCounts: Equatable, Sendable {
    package var idle = 0
    package var connecting = 0
    package var leased = 0
    package var closing = 0
    package var waiting = 0

    package init(idle: Int = 0, connecting: Int = 0, leased: Int = 0, closing: Int = 0, waiting: Int = 0) {
        self.idle = idle
        self.connecting = connecting
        self.leased = leased
        self.closing = closing
        self.waiting = waiting
    }

    static func + (a: PoolCounts, b: PoolCounts) -> PoolCounts {
        PoolCounts(
            idle: a.idle + b.idle,
            connecting: a.connecting + b.connecting,
            leased: a.leased + b.leased,
            closing: a.closing + b.closing,
            waiting: a.waiting + b.waiting
        )
    }
}
