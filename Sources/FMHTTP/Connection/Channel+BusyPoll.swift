internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Lets another thread have the processor, if one wants it.
func giveWay() { sched_yield() }

extension Channel {
    /// Returns when the kernel has bytes for this channel, or at the deadline; the selector will find them without sleep.
    ///
    /// Called on the channel's loop, which does nothing else meanwhile; whoever needs the processor gets it.
    func busyPoll(until deadline: NIODeadline) {
        while !hasReceivedBytes, .now() < deadline { giveWay() }
    }

    /// Whether there are bytes that were not read yet. Also `true` where nobody can tell.
    ///
    /// Linux tells how much memory a socket's receive queue takes, without a read and for any kind of socket: the first of
    /// the numbers of `SO_MEMINFO` (`SK_MEMINFO_RMEM_ALLOC` in
    /// [sock_diag(7)](https://man7.org/linux/man-pages/man7/sock_diag.7.html)).
    var hasReceivedBytes: Bool {
        #if os(Linux)
        let option = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_MEMINFO))
        guard let numbers = try? syncOptions?.getOption(option) else { return true }
        // NIO asks for 64 bits, and the other half is the second number.
        return UInt32(truncatingIfNeeded: numbers) != 0
        #else
        return true
        #endif
    }
}
