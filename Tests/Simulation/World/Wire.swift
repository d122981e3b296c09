import NIOCore

/// One direction of a connection: bytes take time and arrive in pieces, and their number in flight or unread is
/// limited.
final class Wire: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private let network: Network
    private let receiver: VirtualChannel
    /// The other direction.
    weak var back: Wire?
    private let latency: TimeAmount
    private let capacity: Int
    /// The planned fault, and the number of bytes before it.
    private var fault: (afterBytes: Int, break: Break)?

    private var sent = 0
    private var unread = 0
    /// The arrival time of the last bytes sent: later ones never overtake them.
    private var lastArrival: NIODeadline
    private var isOver = false
    /// Whether the receiver has received the reset, but the sender has not.
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

    /// The number of bytes that may be sent now. It is 0 until half of the capacity is free, since otherwise a receiver
    /// that reads little would make the pieces ever smaller (RFC 9293, section 3.8.6.2.2). A sender does not notice
    /// that the wire is cut.
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

    /// Called when the receiver has read bytes from its system.
    func wasRead(_ count: Int) {
        unread -= count
        // The sender of this direction is the receiver of the other.
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
                // The receiver is closed.
                back?.reset()
            }
        }
    }

    /// Something was sent to a receiver that is closed.
    private func refuse() {
        guard refusesMore, let back else { return }
        refusesMore = false
        network.later(at: network.machine.now + latency) { back.arrive(.reset) }
    }

    // MARK: Faults

    /// A way in which a connection breaks.
    enum Break: Equatable {
        /// Both ends receive the end of the stream, as if something between them had closed.
        case finish
        /// Both ends receive a reset.
        case reset
        /// The receiver receives a reset. The sender receives nothing more, until it sends again and receives the reset
        /// too.
        case resetBehind
        /// The receiver receives the end of the stream. What it sends afterwards is lost.
        case halfClose
        /// Neither end receives anything, ever.
        case silence
        /// For this number of milliseconds nothing arrives, and then everything.
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
