extension FMRest.APIError {
    /// The request of an error: enough to find the call and to repeat it by hand, and nothing that must stay secret.
    public struct RequestSummary: Hashable, Sendable {
        /// The HTTP method.
        public var method: String
        /// The server, as `scheme://host:port`.
        public var origin: String
        /// The path below the root of the API (`/fmi/data/vLatest`), with database, layout and record, percent-encoded;
        /// a session's token is replaced. ``url`` has the root as well.
        public var path: String
        /// The name of the work that the call belongs to, as the caller set it by ``DataAPI/Calling/tagged(_:)``.
        public var tag: String?

        /// The root of the API: `/fmi/data/vLatest`.
        var prefix: String
        /// `name=value`, percent-encoded; values that may be secret are replaced.
        var query: [String]
        /// `Name: value`; all values are replaced.
        var headers: [String]
        /// The body, with everything replaced except names and counts.
        var body: String?

        /// Creates a request as an error shows it: without query, headers and body.
        public init(method: String, origin: String, path: String) {
            self.init(method: method, origin: origin, path: path, prefix: "")
        }

        package init(
            method: String,
            origin: String,
            path: String,
            prefix: String,
            query: [String] = [],
            headers: [String] = [],
            body: String? = nil,
            tag: String? = nil
        ) {
            self.method = method
            self.origin = origin
            self.path = path
            self.prefix = prefix
            self.query = query
            self.headers = headers
            self.body = body
            self.tag = tag
        }

        /// The URL up to its query, percent-encoded, ready to paste:
        /// `https://fms.example.com/fmi/data/vLatest/databases/…`. The query may hold values; ``curl`` contains it with
        /// those replaced.
        public var url: String { origin + prefix + path }

        /// The request as a command line for a terminal or a ticket: its URL, the names of its headers, the structure
        /// of its body. Field values, script parameters, tokens and passwords are replaced by `••••`, to be filled in
        /// by hand.
        public var curl: String {
            let url = url + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
            var words = ["curl", "-X", method, Self.quoted(url)]
            for header in headers { words += ["-H", Self.quoted(header)] }
            if let body { words += ["--data-raw", Self.quoted(body)] }
            return words.joined(separator: " ")
        }

        /// The text as one word for a POSIX shell.
        private static func quoted(_ text: String) -> String {
            var quoted = "'"
            for character in text { quoted += character == "'" ? "'\\''" : String(character) }
            return quoted + "'"
        }
    }

    /// The failed request as a `curl` command without secrets; see ``RequestSummary/curl``. `nil` when no request was
    /// created.
    public var curl: String? { request?.curl }
}

extension FMRest.APIError.RequestSummary: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method and the ``url``, which hold no secret and no field value, and the ``tag`` of the call.
    public var description: String { "\(method) \(url)" + (tag.map { ", tagged \"\($0)\"" } ?? "") }

    /// The same as `description`.
    public var debugDescription: String { description }
}
