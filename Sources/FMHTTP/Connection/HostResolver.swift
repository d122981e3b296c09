internal import Dispatch
internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Finds the addresses of one host, for one attempt to connect.
///
/// Addresses need no look-up, and neither does `localhost`: that plain HTTP may go there rests on its name alone, so the
/// name must not lead elsewhere. All others are
/// asked for on a thread of their own: a resolver that hangs, or a program that keeps every thread of the shared pools
/// busy, holds up nobody else.
final class HostResolver: Resolver, Sendable {
    private enum Known {
        case addresses(v4: [SocketAddress], v6: [SocketAddress])
        case needsLookUp
    }

    /// All addresses of a host; may block, or throw an error whose text may be shown.
    typealias LookUp = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

    private let lookUp: LookUp
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>

    init(eventLoop: any EventLoop, lookUp: @escaping LookUp) {
        self.lookUp = lookUp
        v4 = eventLoop.makePromise()
        v6 = eventLoop.makePromise()
    }

    /// Its answer comes with that of the AAAA query, which does the work for both.
    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { v4.futureResult }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        switch Self.known(host, port) {
        case .addresses(let v4, let v6):
            self.v4.succeed(v4)
            self.v6.succeed(v6)
        case .needsLookUp:
            DispatchQueue(label: "FMHTTP.resolver").async { self.answer(host, port) }
        }
        return v6.futureResult
    }

    /// A look-up of the system cannot be cancelled; its result is then not used.
    func cancelQueries() {}

    private static func known(_ host: String, _ port: Int) -> Known {
        if HostGrammar.isLocalhost(host) {
            let v4 = HostGrammar.address("127.0.0.1", port: port)
            let v6 = HostGrammar.address("::1", port: port)
            return .addresses(v4: v4.map { [$0] } ?? [], v6: v6.map { [$0] } ?? [])
        }
        switch HostGrammar.address(host, port: port) {
        case .v4(let address)?: return .addresses(v4: [.v4(address)], v6: [])
        case .v6(let address)?: return .addresses(v4: [], v6: [.v6(address)])
        case .unixDomainSocket?, nil: return .needsLookUp
        }
    }

    private func answer(_ host: String, _ port: Int) {
        do {
            let addresses = try lookUp(host, port)
            v4.succeed(addresses.filter { $0.protocol == .inet })
            v6.succeed(addresses.filter { $0.protocol == .inet6 })
        } catch {
            v4.fail(error)
            v6.fail(error)
        }
    }

    /// What the system says.
    static let system: LookUp = { host, port in
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            throw LookUpFailed(description: gai_strerror(status).map { String(cString: $0) } ?? "error \(status)")
        }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        for entry in sequence(first: list, next: { $0?.pointee.ai_next }) {
            guard let entry, let address = entry.pointee.ai_addr else { continue }
            let bytes = UnsafeRawPointer(address)
            switch entry.pointee.ai_family {
            case AF_INET: found.append(SocketAddress(bytes.load(as: sockaddr_in.self), host: host))
            case AF_INET6: found.append(SocketAddress(bytes.load(as: sockaddr_in6.self), host: host))
            default: continue
            }
        }
        return found
    }
}

private struct LookUpFailed: Error, CustomStringConvertible {
    let description: String
}
