internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension Channel {
    /// Whether the end of the stream has arrived, or the connection was reset, though the loop has not read that yet.
    /// `false` where the system does not report it. Called on the channel's loop.
    ///
    /// Linux reports the state of a connection without a read: the first byte of `TCP_INFO`
    /// ([tcp(7)](https://man7.org/linux/man-pages/man7/tcp.7.html)), in the numbers of `net/tcp_states.h`.
    var isClosedByPeer: Bool {
        #if os(Linux)
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_INFO))
        guard let info = try? syncOptions?.getOption(option) else { return false }
        let established: UInt8 = 1
        return withUnsafeBytes(of: info) { $0[0] } != established
        #else
        return false
        #endif
    }
}
