import FMHTTP
import Foundation
import NIOCore
import NIOFoundationCompat

/// What may be told of a request: names, and never a value of a field, a parameter of a script, a password or a token. Worked
/// out when an error asks for it, so a request that succeeds pays nothing.
extension DataAPIRequest {
    /// - Parameter prefix: the path above the request's own, `/fmi/data/vLatest`.
    func summary(at origin: Origin, below prefix: String = "") -> FMRest.APIError.RequestSummary {
        let segments = path.segments.map { $0 == secretSegment ? Redacted.mark : $0.percentEncoded }
        return FMRest.APIError.RequestSummary(
            method: method.rawValue,
            origin: "\(origin)",
            path: "/" + segments.joined(separator: "/"),
            prefix: root == .dataAPI ? prefix : "",
            query: query.map {
                "\($0.name.percentEncoded)=\(Redacted.isHarmless($0.name) ? $0.value.percentEncoded : Redacted.mark)"
            },
            headers: redactedHeaders,
            body: body.redacted
        )
    }

    private var redactedHeaders: [String] {
        var lines: [String] = []
        switch authorization {
        case .none: break
        case .session: lines.append("Authorization: Bearer \(Redacted.mark)")
        case .credentials(let credentials): lines += credentials.redactedHeaders
        }
        if case .json = body { lines.append("Content-Type: application/json") }
        return lines + headers.map { "\($0.name): \(Redacted.mark)" }
    }
}

extension DataAPIRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and path; see ``summary(at:below:)`` for more.
    var description: String {
        "\(method.rawValue) /" + path.segments.map { $0 == secretSegment ? Redacted.mark : $0 }.joined(separator: "/")
    }

    var debugDescription: String { description }

    /// Shows no more than ``description``.
    var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension DataAPIRequest.Body {
    /// The shape of a JSON body with its values hidden.
    fileprivate var redacted: String? {
        guard case .json(let bytes) = self else { return nil }
        guard bytes.readableBytes <= Redacted.maximumBodyBytes, let json = try? JSONSerialization.object(bytes),
            let text = try? JSONSerialization.data(
                withJSONObject: Redacted.body(json),
                options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed]
            )
        else { return Redacted.mark }
        return String(decoding: text, as: UTF8.self)
    }
}

extension DataAPI.Credentials {
    fileprivate var redactedHeaders: [String] {
        switch kind {
        case .basic: ["Authorization: Basic \(Redacted.mark)"]
        case .oAuth:
            ["X-FM-Data-OAuth-Request-Id: \(Redacted.mark)", "X-FM-Data-OAuth-Identifier: \(Redacted.mark)"]
        case .clarisId: ["Authorization: FMID \(Redacted.mark)"]
        case .token: ["Authorization: Bearer \(Redacted.mark)"]
        case .invalid: []
        }
    }
}

/// What stands in place of a secret, and what is none.
private enum Redacted {
    static let mark = "••••"
    /// A body beyond this says nothing that a smaller one does not.
    static let maximumBodyBytes = 16 * 1024

    /// The members of a body without what they hold, except for those that choose and order and hold names alone.
    static func body(_ json: Any) -> Any {
        guard let object = json as? [String: Any] else { return values(json) }
        return Dictionary(
            uniqueKeysWithValues: object.map { key, value in (key, isHarmless(key) ? value : values(value)) }
        )
    }

    private static func values(_ json: Any) -> Any {
        switch json {
        case let object as [String: Any]: object.mapValues(values)
        case let array as [Any]: array.map(values)
        default: mark
        }
    }

    /// Whether a parameter holds names and counts: which layout, which portals, how many.
    static func isHarmless(_ name: String) -> Bool {
        let name = name.hasPrefix("_") ? name.dropFirst() : name[...]
        return harmless.contains(String(name)) || name.hasPrefix("offset.") || name.hasPrefix("limit.")
    }

    private static let harmless: Set<String> = [
        "offset", "limit", "sort", "portal", "layout.response", "dateformats", "recordId", "modId", "options", "script",
        "script.prerequest", "script.presort",
    ]
}
