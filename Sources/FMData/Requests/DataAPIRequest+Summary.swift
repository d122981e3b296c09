import FMHTTP

/// What may be told of a request: names, and never a value of a field, a parameter of a script, a password or a token. Worked
/// out when an error asks for it, so a request that succeeds pays nothing.
extension DataAPIRequest {
    /// - Parameter prefix: the path above the request's own, `/fmi/data/vLatest`.
    func summary(at origin: Origin, below prefix: String = "") -> FMRest.APIError.RequestSummary {
        let segments = path.segments.map { $0 == secretSegment ? Redacted.mark : $0.percentEncoded }
        return FMRest.APIError.RequestSummary(
            method: method.rawValue,
            origin: "\(origin)",
            path: "/" + segments.joined(separator: "/") + path.writtenArgument,
            prefix: root == .dataAPI ? prefix : "",
            query: query.map {
                "\($0.nameInURL.percentEncoded)=\($0.disclosure == .shown ? $0.textInURL.percentEncoded : Redacted.mark)"
            },
            headers: redactedHeaders,
            body: redactedBody,
            tag: context.tag
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

    /// The shape of a JSON body with its values hidden.
    private var redactedBody: String? {
        guard case .json = body else { return nil }
        let shape = options.map { option in
            WireOption(name: option.name, value: option.shownValue, disclosure: .shown)
        }
        let json = shape.json
        // A longer one says nothing that a shorter one does not.
        return json.count > 16 * 1024 ? Redacted.mark : String(decoding: json, as: UTF8.self)
    }
}

extension DataAPIRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and path; see ``summary(at:below:)`` for more.
    var description: String {
        "\(method.rawValue) /" + path.segments.map { $0 == secretSegment ? Redacted.mark : $0 }.joined(separator: "/")
            + path.writtenArgument
    }

    var debugDescription: String { description }

    /// Shows no more than ``description``.
    var customMirror: Mirror { Mirror(self, children: ["request": description]) }
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
