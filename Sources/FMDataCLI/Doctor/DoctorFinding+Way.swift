import FMData

// What is said of the way to a host: proxy, name, addresses, TLS.

extension DoctorFinding {
    // MARK: The proxy

    /// - Parameter variables: The names of the variables about proxies that are set.
    static func proxy(_ way: DataAPI.ConnectionReport, variables: [String]) -> DoctorFinding {
        let inForce = variables.isEmpty ? "" : "; set: \(variables.joined(separator: ", "))"
        if let failure = way.failure, failure.isOfProxy {
            return .failed(
                "\(failure)\(inForce)",
                [ErrorText.hint(for: failure), "A host of your own network needs none: add it to no_proxy."]
                    .compactMap(\.self),
                exit: .unreachable
            )
        }
        return .ok((way.isProxy ? "the host is reached through \(way.place)" : "none is used") + inForce)
    }

    // MARK: The name

    static func name(_ way: DataAPI.ConnectionReport) -> DoctorFinding {
        let whose = way.isProxy ? "the proxy " : ""
        guard !way.addresses.isEmpty else {
            return .failed(
                "\(whose)\(way.host) has no address: \(way.failure?.underlying ?? "none was found")",
                "Is the name spelled right?",
                "Can this machine look up other names, and is the network (or VPN) up whose DNS knows this one? "
                    + "`getent hosts \(way.host)` asks the same.",
                exit: .unreachable
            )
        }
        let addresses = way.addresses.map(\.text).joined(separator: ", ")
        guard let time = way.lookUpTime else {
            return .ok(addresses == way.host ? "\(whose)\(addresses) is an address" : "\(way.host) is \(addresses)")
        }
        let text = "\(whose)\(way.host) is \(addresses), looked up in \(time.milliseconds) ms"
        let finding: DoctorFinding =
            time < .seconds(1)
            ? .ok(text)
            : .warning(text, "The DNS server of this machine is slow; each new connection may wait for it.")
        return finding.with(["milliseconds": time.milliseconds, "addresses": way.addresses.count])
    }

    // MARK: TCP

    static func connect(_ way: DataAPI.ConnectionReport) -> DoctorFinding {
        let text = way.addresses.map(\.outcome).joined(separator: "; ") + ", port \(way.port)"
        let answering = way.addresses.filter { $0.failure == nil }
        guard let first = answering.first else {
            let isSilent = way.addresses.allSatisfy { $0.failure?.code == .connectTimeout }
            return .failed(
                text + (way.isProxy ? ", of the proxy" : ""),
                isSilent
                    ? "Firewalls that drop what they forbid look like this. Is port \(way.port) open for this machine?"
                    : "Is the host up, and its web server listening on port \(way.port)? A firewall may refuse, too.",
                exit: .unreachable
            )
        }
        let silent = way.addresses.filter { $0.failure?.code == .connectTimeout }
        let figures = [
            "milliseconds": first.time.milliseconds, "addresses": way.addresses.count, "silent": silent.count,
        ]
        guard let lost = silent.first else { return .ok(text).with(figures) }
        let kind = lost.isIPv6 ? "the IPv6 address" : "the address"
        let record = lost.isIPv6 ? "AAAA" : "A"
        return .warning(
            text,
            "Clients that try \(kind) first lose time with each connection, and some fail. Open port \(way.port) for "
                + "\(lost.text), or remove its \(record) record from DNS."
        )
        .with(figures)
    }

    // MARK: TLS

    static func tls(_ way: DataAPI.ConnectionReport, isPlain: Bool) -> DoctorFinding {
        if isPlain { return .ok("none: the host is asked in plain HTTP") }
        if let failure = way.failure {
            let hint = ErrorText.hint(for: failure)
            let advice: [String?] =
                failure.code == .connectTimeout
                ? ["The port takes connections and says nothing: is it the one of the web server?"] : [hint]
            return .failed("\(failure)", advice.compactMap(\.self), exit: .unreachable)
        }
        guard let tls = way.tls else { return .failed("no handshake was made", exit: .unreachable) }
        let chosen = tls.applicationProtocol.map { ", \($0) chosen of h2 and http/1.1" } ?? ", no protocol chosen"
        let text = "\(tls.version) in \(tls.time.milliseconds) ms\(chosen)"
        guard tls.version != "TLS 1.0", tls.version != "TLS 1.1" else {
            return .failed(
                text,
                "The host has no newer version: update FileMaker Server, or the gateway in front of it.",
                exit: .unreachable
            )
        }
        return .ok(text).with(["milliseconds": tls.time.milliseconds])
    }
}

extension DataAPI.ConnectionReport {
    /// `fms.example.com:443`.
    fileprivate var place: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

extension DataAPI.ConnectionReport.Address {
    /// What came of an attempt to connect.
    fileprivate var outcome: String {
        switch failure?.code {
        case nil: "\(text) answers in \(time.milliseconds) ms"
        case .connectTimeout?: "\(text) does not answer"
        case .connectionRefused?: "\(text) refuses"
        default: "\(text): \(failure?.underlying ?? "no connection")"
        }
    }
}

extension DataAPI.TransportError {
    /// Whether a proxy, or the settings that name one, are the reason.
    fileprivate var isOfProxy: Bool {
        [.unusableProxy, .proxyFailure, .proxyAuthenticationRequired].contains(code)
    }
}
