import NIOCore

/// One direction of a connection: bytes take their time, come in pieces, and at most so many are on the way or unread.
final class Wire: @unchecked Sendable {
    // Sendable as the machine is.
    private let network: Network
    private let receiver: VirtualChannel
    /// The other direction.
    weak var back: Wire?
    private let latency: TimeAmount
    private let capacity: Int
    /// What goes wrong, and after how many bytes.
    private var fault: (afterBytes: Int, break: Break)?

    private var sent = 0
    private var unread = 0
    /// When the last of what was sent arrives: nothing overtakes.
    private var lastArrival: NIODeadline
    private var isOver = false
    /// Whether the receiver was told that the connection is gone, and who sends was not.
    private var refusesMore = false

    init(
        to receiver: VirtualChannel,
        in network: Network,
        latency: TimeAmount,
        capacity: Int,
        fault: (afterBytes: Int, break: Break)?
    ) {
        self.receiver = receiver
        self.network = network
        self.latency = latency
        self.capacity = capacity
        self.fault = fault
        lastArrival = network.machine.now
    }

    /// How many bytes may be sent now: none before half of the room is free, as otherwise a receiver that reads little makes the
    /// pieces ever smaller (RFC 9293, section 3.8.6.2.2). Whoever sends into a wire that is cut does not know.
    var room: Int { isOver ? .max : unread > capacity / 2 ? 0 : capacity - unread }

    func send(_ bytes: ByteBuffer) {
        guard !isOver else { return refuse() }
        var bytes = bytes
        if let fault, sent + bytes.readableBytes >= fault.afterBytes {
            self.fault = nil
            let last = bytes.readSlice(length: fault.afterBytes - sent)
            if let last, last.readableBytes > 0 { carry(last) }
            strike(fault.break)
            guard !isOver else { return }
        }
        carry(bytes)
    }

    func finish() { last(.end) }
    func reset() { last(.reset) }

    /// The receiver has taken bytes out of its system.
    func wasRead(_ count: Int) {
        unread -= count
        // Who sends through this direction receives through the other.
        if room > 0 { back?.receiver.gotRoom() }
    }

    private func carry(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        sent += bytes.readableBytes
        unread += bytes.readableBytes
        var rest = bytes
        for size in network.pieces(of: bytes.readableBytes) {
            guard let piece = rest.readSlice(length: size) else { break }
            arrive(.bytes(piece))
        }
    }

    private func last(_ end: VirtualChannel.Arrival) {
        guard !isOver else { return }
        isOver = true
        arrive(end)
    }

    private func arrive(_ arrival: VirtualChannel.Arrival) {
        lastArrival = max(lastArrival, network.machine.now + latency)
        network.later(at: lastArrival) { [self] in
            if receiver.isOpen {
                receiver.arrived(arrival)
            } else if case .bytes = arrival {
                // Nobody is there any more.
                back?.reset()
            }
        }
    }

    /// Something was sent where nobody is who could take it.
    private func refuse() {
        guard refusesMore, let back else { return }
        refusesMore = false
        network.later(at: network.machine.now + latency) { back.arrive(.reset) }
    }

    // MARK: Faults

    /// How a connection breaks.
    enum Break: Equatable {
        /// Both ends hear that the other has finished, as when something between them closes.
        case finish
        /// Both ends hear of a reset.
        case reset
        /// The receiver hears of a reset. Who sends hears nothing more, and of the reset when it sends something again.
        case resetBehind
        /// The receiver hears that the other has finished. What that sends from then on is lost.
        case halfClose
        /// Neither hears anything, ever.
        case silence
        /// So many milliseconds nothing comes, and then all of it.
        case stall(milliseconds: Int)
    }

    private func strike(_ way: Break) {
        network.note { "wire breaks: \(way) after \(self.sent) bytes" }
        switch way {
        case .finish:
            finish()
            back?.finish()
        case .reset:
            reset()
            back?.reset()
        case .resetBehind:
            last(.reset)
            back?.isOver = true
            refusesMore = true
        case .halfClose:
            finish()
        case .silence:
            isOver = true
            back?.isOver = true
        case .stall(let milliseconds):
            lastArrival = max(lastArrival, network.machine.now) + .milliseconds(Int64(milliseconds))
        }
    }
}
