import FMData
import Foundation
import NIOCore
import NIOPosix

/// What a member of a fleet has from outside: its event loop with the clock, the timers and the tasks, random numbers,
/// and the way to the store. Its decisions depend on nothing else, so a simulation can replace it all.
struct FleetSurroundings: Sendable {
    let eventLoop: any EventLoop
    var time: SessionTime
    /// Returns a random number, a new one with each call.
    var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    /// Opens the channel of a connection to the store.
    var open: StoreOpener = StoreOpening.sockets

    /// The real ones.
    init(eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()) {
        self.eventLoop = eventLoop
        time = .running(on: eventLoop, wallClock: { Date() })
    }

    /// A number from `0..<1`.
    func fraction() -> Double { Double(random() >> 11) / Double(1 << 53) }

    /// 8 random bytes in hexadecimal digits.
    func name() -> String { hexadecimalName(of: random()) }
}

/// 8 random bytes in hexadecimal digits.
func randomName() -> String { hexadecimalName(of: .random(in: .min ... .max)) }

private func hexadecimalName(of number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
