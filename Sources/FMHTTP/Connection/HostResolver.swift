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
/// Addresses need no look-up, and neither does `localhost`: plain HTTP is allowed to it because of its name alone, so
/// the name must not lead elsewhere. All other names are looked up on a thread of their own, so a resolver that hangs,
/// or a program that keeps every thread of the shared pools busy, delays no other request.
final class HostResolver: Resolver, Sendable {
    private enum Known {
        case addresses(v4: [SocketAddress], v6: [SocketAddress])
        case needsLookUp
    }

    /// Returns all addresses of a host. May block; the text of an error it throws is shown to users.
    typealias LookUp = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

    private let lookUp: LookUp
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>

    init(eventLoop: any EventLoop, lookUp: @escaping LookUp) {
        self.lookUp = lookUp
        v4 = eventLoop.makePromise()
        v6 = eventLoop.makePromise()
    }

    /// The A query's result. It completes with the AAAA query, which does the work for both.
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

    /// Does nothing: the system's look-up cannot be cancelled. Its result is not used then.
    func cancelQueries() {}

    /// Whether the host's addresses have to be looked up.
    static func looksUp(_ host: String) -> Bool {
        if case .needsLookUp = known(host, 0) { true } else { false }
    }

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

    /// Looks a host up with `getaddrinfo`.
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
