import FMHTTP

/// The part of a request that may be printed: names, and never a value of a field, a parameter of a script, a password
/// or a token. It is computed only when an error asks for it, so a successful request costs nothing.
extension DataAPIRequest {
    /// - Parameter prefix: the path above the request's own path: `/fmi/data/vLatest`.
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
        switch body {
        case .json, .raw: lines.append("Content-Type: application/json")
        case .none, .multipart: break
        }
        return lines + headers.map { "\($0.name): \(Redacted.mark)" }
    }

    /// The structure of a JSON body, with its values hidden.
    private var redactedBody: String? {
        if case .raw = body { return Redacted.mark }
        guard case .json = body else { return nil }
        let shape = options.map { option in
            WireOption(name: option.name, value: option.shownValue, disclosure: .shown)
        }
        let json = shape.json
        // The structure of a longer body tells no more than that of a shorter one.
        return json.count > 16 * 1024 ? Redacted.mark : String(decoding: json, as: UTF8.self)
    }
}

extension DataAPIRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and path; see ``summary(at:below:)`` for more.
    package var description: String {
        "\(method.rawValue) /" + path.segments.map { $0 == secretSegment ? Redacted.mark : $0 }.joined(separator: "/")
            + path.writtenArgument
    }

    package var debugDescription: String { description }

    /// Shows the ``description`` only.
    package var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension DataAPI.Credentials {
    fileprivate var redactedHeaders: [String] {
        switch kind {
        case .basic: ["Authorization: Basic \(Redacted.mark)"]
        case .oAuth:
            ["X-FM-Data-OAuth-Request-Id: \(Redacted.mark)", "X-FM-Data-OAuth-Identifier: \(Redacted.mark)"]
        case .clarisId: ["Authorization: FMID \(Redacted.mark)"]
        case .token, .key: ["Authorization: Bearer \(Redacted.mark)"]
        case .invalid: []
        }
    }
}
