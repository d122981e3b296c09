import FMData
import Foundation

@testable import FMDataCore
@testable import FMHTTP

/// The first line of an input is a URL, the second a reference to resolve against it, as in a `Location` header. The
/// destination of a request must be the one that another URL parser finds, and its target must be valid in HTTP.
enum URLFuzz {
    static func test(_ input: UnsafeRawBufferPointer) {
        let lines = lines(input)
        for line in lines.prefix(2) {
            _ = Authority(line[...])
            checkProxy(line)
        }
        guard let base = URLReference(lines[0]) else { return }
        check(base, of: lines[0])
        guard lines.count > 1, let reference = URLReference(lines[1]) else { return }
        check(reference, of: lines[1])
        let resolved = base.resolving(reference)
        check(resolved)
        if resolved.scheme != nil, !reference.path.isEmpty || reference.authority != nil {
            require(base.resolving(resolved) == resolved, "\(resolved) is not what is meant when it is resolved again")
        }
        if reference.authority == nil, reference.scheme == nil {
            require(resolved.origin == base.origin, "\(reference) leads from \(base) to another origin")
        }
    }

    private static func check(_ url: URLReference, of text: String? = nil) {
        let target = url.target
        require(target.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }, "no target: \(target)")
        _ = url.decodedPath
        // The URL as a reference in a header must be parsed as the same URL.
        let written = written(url)
        if let again = URLReference(written) {
            require(again == url || url.isAmbiguous, "\(written) is \(again) and not \(url)")
        } else {
            require(url.isAmbiguous, "\(written) is no reference any more")
        }
        guard let origin = url.origin else { return }
        require(HostGrammar.isValid(origin.host), "no host: \(origin.host)")
        require(1...65_535 ~= origin.port, "no port: \(origin.port)")
        require(target.hasPrefix("/"), "\(target) is not below the root")
        guard let text else { return }
        compare(origin, with: text)
        if (try? ContainerDownloadStateMachine(url: text, server: origin)) != nil { checkContent(target) }
    }

    /// Content is requested with a session's token, so never from below `fmi`, even for a host that decodes escapes.
    private static func checkContent(_ target: String) {
        var path: [UInt8] = []
        var rest = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        while let byte = rest.popFirst() {
            let escaped =
                byte == UInt8(ascii: "%") ? UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) : nil
            path.append(escaped ?? byte)
            if escaped != nil { rest = rest.dropFirst(2) }
        }
        let segments = path.split { "/\\".utf8.contains($0) }
        require(!segments.contains { $0.map { $0 | 0x20 } == Array("fmi".utf8) }, "a token goes to \(target)")
    }

    /// If two parsers saw different hosts, a token could be sent to a wrong one.
    private static func compare(_ origin: Origin, with text: String) {
        guard let foundation = URLComponents(string: text), let host = foundation.percentEncodedHost else { return }
        // Foundation decodes such labels into international characters, and means the same host (RFC 5891).
        guard !origin.host.split(separator: ".").contains(where: { $0.hasPrefix("xn--") }) else { return }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        require(bare.lowercased() == origin.host, "\(text) leads to \(origin.host), and for Foundation to \(bare)")
        require(foundation.user == nil, "\(text) has a user for Foundation")
        require((foundation.port ?? origin.scheme.defaultPort) == origin.port, "\(text): \(origin.port)")
    }

    private static func written(_ url: URLReference) -> String {
        var text = url.scheme.map { "\($0):" } ?? ""
        if let authority = url.authority {
            text += "//" + HostGrammar.bracketed(authority.host) + (authority.port.map { ":\($0)" } ?? "")
        }
        return text + url.path + (url.query.map { "?\($0)" } ?? "")
    }

    private static func checkProxy(_ text: String) {
        guard let proxy = HTTPProxy(url: text) else { return }
        require(HostGrammar.isValid(proxy.host), "no host: \(proxy.host)")
        let isHeader = proxy.authorization?.utf8.allSatisfy { 0x20...0x7E ~= $0 } ?? true
        require(isHeader, "no header: \(proxy.authorization ?? "")")
    }
}

extension URLReference {
    /// Without a scheme or an authority before it a path may be parsed as one: removing dot segments can leave such a
    /// path.
    fileprivate var isAmbiguous: Bool {
        authority == nil && (path.hasPrefix("//") || scheme == nil && path.prefix { $0 != "/" }.contains(":"))
    }
}
