internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A port of this machine on which no process listens, and which no other can take while it is held.
public final class ClosedPort: Sendable {
    private let held: HeldPort
    /// The number of the port.
    public var port: Int { held.port }

    /// Reserves a port of a loopback address.
    ///
    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - address: `127.0.0.1` or `::1`.
    public init(_ port: Int = 0, of address: String = "127.0.0.1") throws { held = try HeldPort(port, of: address) }
}

/// A port that does not answer, so that connecting takes for ever. (On Linux a full accept queue has that effect; other
/// systems may refuse.)
public final class SilentPort: Sendable {
    private let held: HeldPort
    private let fillers: [Int32]
    /// The number of the port.
    public var port: Int { held.port }

    /// Reserves a port of a loopback address, and fills its accept queue.
    ///
    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - address: `127.0.0.1` or `::1`.
    public init(_ port: Int = 0, of address: String = "127.0.0.1") throws {
        let held = try HeldPort(port, of: address)
        self.held = held
        guard listen(held.descriptor, 0) == 0 else { throw HeldPort.SystemError(number: errno) }
        // No connection is accepted: the first one fills the queue, and the others stay pending like later ones.
        fillers = try (0..<3).map { number in
            let filler = try held.makeSocket()
            // Only the first one completes, so only it may block.
            if number > 0 { _ = fcntl(filler, F_SETFL, O_NONBLOCK) }
            held.withAddress { _ = connect(filler, $0, $1) }
            return filler
        }
    }

    deinit { for filler in fillers { close(filler) } }
}

/// A bound socket.
private final class HeldPort: Sendable {
    struct SystemError: Error { let number: Int32 }

    let descriptor: Int32
    let port: Int
    private let address: SocketAddress

    init(_ port: Int, of address: String) throws {
        let wanted = try SocketAddress(ipAddress: address, port: port)
        let descriptor = try Self.makeSocket(wanted)
        self.descriptor = descriptor
        guard wanted.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
            throw SystemError(number: errno)
        }
        self.port = try Self.port(of: descriptor)
        self.address = try SocketAddress(ipAddress: address, port: self.port)
    }

    deinit { close(descriptor) }

    func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
        address.withSockAddr { body($0, socklen_t($1)) }
    }

    /// Makes a socket that can connect to the port.
    func makeSocket() throws -> Int32 { try Self.makeSocket(address) }

    private static func makeSocket(_ address: SocketAddress) throws -> Int32 {
        let family = address.protocol == .inet6 ? AF_INET6 : AF_INET
        #if canImport(Glibc)
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(family, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw SystemError(number: errno) }
        return descriptor
    }

    private static func port(of descriptor: Int32) throws -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return try withUnsafeMutablePointer(to: &storage) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { throw SystemError(number: errno) }
            }
            // Both families have the port at the same place.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                Int(UInt16(bigEndian: address.pointee.sin_port))
            }
        }
    }
}
