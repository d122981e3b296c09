import FMData
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// Replaces what must not be written down, the same way each time: a secret that comes again gets the same placeholder.
final class Redaction: Sendable {
    private struct State: Sendable {
        /// The placeholders of tokens, cookies and confidential parameters.
        var secrets: [String: String] = [:]
        /// Those of hosts beside the server that contents of containers come from.
        var hosts: [String: String] = [:]

        /// A very short text is not replaced in others, since it is part of many words.
        mutating func remember(_ secret: String, as placeholder: String) {
            if secret.count >= 8 { secrets[secret] = placeholder }
        }
    }

    static let hostMark = "{host}"
    static let originMark = "{origin}"
    private static let confidentialMark = "{confidential}"

    private static let tokenHeader = "X-FM-Data-Access-Token"
    /// The headers of a response that the client reads. Others are not written: nobody knows what a gateway puts there.
    private static let writtenHeaders = ["Content-Type", "Retry-After", tokenHeader]
    /// Those that the client reads of a content as well.
    private static let headersOfContents = [
        "Content-Disposition", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified", "Location", "Set-Cookie",
    ]

    private let change: Recording.Change?
    private let state = NIOLockedValueBox(State())

    init(change: Recording.Change?) { self.change = change }
}

// MARK: - Requests

extension Redaction {
    /// The parameters of the URL, as an object.
    func query(of request: DataAPI.OutgoingRequest) -> WireValue {
        let members = request.query.map { WireValue.Member(name: $0.name, value: .text($0.value)) }
        return options(.object(members), of: request)
    }

    /// The JSON of a request; `nil` for one without, and for uploads, whose bytes are not read.
    func requestBody(of request: DataAPI.OutgoingRequest) -> WireValue? {
        guard request.bodyLength > 0, request.operation != .uploadContainer else { return nil }
        // A body of JSON is in memory, so all of it comes at once.
        var bytes = Data()
        _ = request.body.sink(receiveCompletion: { _ in }, receiveValue: { bytes += $0 })
        guard let body = WireValue(reading: bytes) else { return nil }
        guard request.operation != .logIn else {
            // Of data sources the names, without their accounts and passwords.
            return body.mappingMembers { _, sources in
                sources.mappingElements { .object(["database": $0["database"]]) }
            }
        }
        return options(body, of: request)
    }

    private func options(_ options: WireValue, of request: DataAPI.OutgoingRequest) -> WireValue {
        options.mappingMembers { name, value in
            if request.confidentialOptions.contains(name) { return self.confidential(value) }
            switch name {
            case "fieldData", "globalFields": return self.fields(value, request)
            case "portalData": return self.portals(value, request)
            case "query": return value.mappingElements { self.fields($0, request, except: ["omit"]) }
            default: return name.hasSuffix(".param") ? self.field(name, value, request) : value
            }
        }
        .mappingTexts { self.text($0, from: request.origin) }
    }
}

// MARK: - Responses

extension Redaction {
    func headers(_ headers: DataAPI.Headers, from request: DataAPI.OutgoingRequest) -> [WireValue.Member] {
        let others = request.operation == .downloadContainer ? Self.headersOfContents : []
        return (Self.writtenHeaders + others).compactMap { name in
            let values = headers.values(of: name).map { value -> WireValue in
                switch name {
                case "Set-Cookie": .text(cookie(value))
                case Self.tokenHeader: .text(token(value))
                case "Location": .text(location(value, from: request.origin))
                default: .text(text(value, from: request.origin))
                }
            }
            return values.isEmpty
                ? nil : WireValue.Member(name: name, value: values.count == 1 ? values[0] : .array(values))
        }
    }

    func body(_ response: ReceivedResponse, of request: DataAPI.OutgoingRequest) -> RecordedExchange.Body {
        let bytes = response.body
        guard !bytes.isEmpty else { return .none }
        // Redirections and refusals have texts, which may name URLs.
        let isContent = request.operation == .downloadContainer && response.status < 300
        guard !isContent else { return .bytes(bytes) }
        guard let json = WireValue(reading: bytes) else {
            return .text(text(String(decoding: bytes, as: UTF8.self), from: request.origin))
        }
        let changed = json.mappingMembers { name, response in
            guard name == "response" else { return response }
            return response.mappingMembers { name, value in
                switch (name, value) {
                case ("data", _): return value.mappingElements { self.record($0, request) }
                case ("token", .text(let token)) where request.operation == .logIn: return .text(self.token(token))
                default: return name.hasPrefix("scriptResult") ? self.field(name, value, request) : value
                }
            }
        }
        return .json(changed.mappingTexts { self.text($0, from: request.origin) })
    }

    private func record(_ record: WireValue, _ request: DataAPI.OutgoingRequest) -> WireValue {
        record.mappingMembers { name, value in
            switch name {
            case "fieldData": self.fields(value, request)
            case "portalData": self.portals(value, request)
            default: value
            }
        }
    }
}

// MARK: - Fields

extension Redaction {
    private func portals(_ portals: WireValue, _ request: DataAPI.OutgoingRequest) -> WireValue {
        portals.mappingMembers { _, rows in
            rows.mappingElements { self.fields($0, request, except: ["recordId", "modId"]) }
        }
    }

    private func fields(
        _ fields: WireValue,
        _ request: DataAPI.OutgoingRequest,
        except others: Set<String> = []
    ) -> WireValue {
        fields.mappingMembers { name, value in others.contains(name) ? value : self.field(name, value, request) }
    }

    private func field(_ name: String, _ value: WireValue, _ request: DataAPI.OutgoingRequest) -> WireValue {
        guard let change else { return value }
        let old = value.fieldValue
        let new = change(old, name, request.layout)
        // A value that stays is written as it was sent.
        return new == old ? value : WireValue(new)
    }
}

// MARK: - Texts

extension Redaction {
    /// The text with placeholders for contents, secrets and hosts.
    private func text(_ text: String, from origin: String) -> String {
        let host = HostName(origin: origin)
        var text = text
        if text.contains("http") { text = text.replacing(Self.url) { self.url($0, host) } }
        let (secrets, hosts) = state.withLockedValue { ($0.secrets, $0.hosts) }
        for (secret, placeholder) in secrets { text = text.replacingOccurrences(of: secret, with: placeholder) }
        for (name, placeholder) in hosts { text = HostName(name).replaced(by: placeholder, in: text) }
        return host.replaced(by: Self.hostMark, in: text)
    }

    private typealias URLPattern = Regex<(Substring, Substring, Substring)>

    /// A URL, its authority and the rest. In JSON inside of a text its slashes may be escaped.
    // Computed, since a pattern is not Sendable.
    private static var url: URLPattern { /(?i)https?:\\?\/\\?\/([^\s"'<>\\\/?#]+)((?:[^\s"'<>\\]|\\\/)*)/ }

    /// A URL of the host is replaced as a whole, since it may give access to what it names.
    private func url(_ match: URLPattern.Match, _ host: HostName) -> String {
        let end = String(match.2.reversed().prefix { ".,;:!?)".contains($0) }.reversed())
        let path = match.2.dropLast(end.count).replacing("\\/", with: "/")
        let isOwn = host.isNamed(by: match.1)
        guard isOwn || path.lowercased().hasPrefix("/streaming") else { return String(match.0) }
        let origin = isOwn ? Self.originMark : other(match.1)
        return origin + (path.isEmpty || path == "/" ? String(path) : contentPath(String(path))) + end
    }

    /// Where the content of a container is. What the URL names, and what gives access to it, is secret wherever it is.
    private func location(_ url: String, from origin: String) -> String {
        guard let match = url.wholeMatch(of: Self.url) else { return contentPath(url) }
        return (HostName(origin: origin).isNamed(by: match.1) ? Self.originMark : other(match.1)) + contentPath(url)
    }

    /// The placeholder of a content's URL or path: the same in a recording and in its replay. So little is left of the
    /// digest that it does not give a path away.
    func contentPath(_ url: String) -> String {
        var path = url[...]
        if let scheme = path.range(of: "://") {
            path = path[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
        }
        // It is one already, in a replay.
        if path.wholeMatch(of: /\/Streaming\/content-[0-9a-f]{8}(\.[A-Za-z0-9]+)?/) != nil { return String(path) }
        let digest = DigestText([String(path)]).digest.prefix(4).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        let suffix = path.prefix { $0 != "?" && $0 != "#" }.firstMatch(of: /\.[A-Za-z0-9]{1,8}$/)
        return "/Streaming/content-\(digest.joined())\(suffix.map { String($0.0) } ?? "")"
    }

    /// The placeholder of the origin of another host.
    private func other(_ authority: Substring) -> String {
        let name = HostName(authority).name
        // It is one already, in a replay.
        if name.wholeMatch(of: /host-[0-9]+\.invalid/) != nil { return "https://\(name)" }
        let placeholder = state.withLockedValue { state in
            let known = state.hosts[name] ?? "host-\(state.hosts.count + 1).invalid"
            state.hosts[name] = known
            return known
        }
        return "https://\(placeholder)"
    }

    /// A cookie without its value, for every path: those of contents are placeholders.
    private func cookie(_ header: String) -> String {
        let name = header.prefix { $0 != "=" }
        let value = header.dropFirst(name.count + 1).prefix { $0 != ";" }
        return "\(name)=\(placeholder("recorded-cookie", of: String(value))); Path=/"
    }

    private func token(_ token: String) -> String { placeholder("recorded-token", of: token) }

    /// A confidential parameter, which the script's result may repeat.
    private func confidential(_ value: WireValue) -> WireValue {
        if let text = value.text { state.withLockedValue { $0.remember(text, as: Self.confidentialMark) } }
        return .text(Self.confidentialMark)
    }

    private func placeholder(_ name: String, of secret: String) -> String {
        state.withLockedValue { state in
            if let known = state.secrets[secret] { return known }
            let placeholder = "\(name)-\(state.secrets.count + 1)"
            state.remember(secret, as: placeholder)
            return placeholder
        }
    }
}
