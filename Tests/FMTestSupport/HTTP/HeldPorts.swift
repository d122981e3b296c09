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

    /// Reserves a free port of the loopback address.
    public init() throws { held = try HeldPort() }
}

/// A port that does not answer, so that connecting takes for ever. (On Linux a full accept queue has that effect; other
/// systems may refuse.)
public final class SilentPort: Sendable {
    private let held: HeldPort
    private let fillers: [Int32]
    /// The number of the port.
    public var port: Int { held.port }

    /// Reserves a free port of the loopback address, and fills its accept queue.
    public init() throws {
        let held = try HeldPort()
        self.held = held
        guard listen(held.descriptor, 0) == 0 else { throw HeldPort.SystemError(number: errno) }
        // No connection is accepted: the first one fills the queue, and the others stay pending like later ones.
        fillers = try (0..<3).map { number in
            let filler = try HeldPort.makeSocket()
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

    init() throws {
        let descriptor = try Self.makeSocket()
        self.descriptor = descriptor
        var address = Self.loopback(port: 0)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
        var length = size
        let isKnown = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        if !isBound || !isKnown { throw SystemError(number: errno) }
    }

    deinit { close(descriptor) }

    func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
        var address = Self.loopback(port: UInt16(port))
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    static func makeSocket() throws -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw SystemError(number: errno) }
        return descriptor
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }
}
