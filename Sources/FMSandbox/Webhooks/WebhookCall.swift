/// A call of the OData interface about webhooks: `/fmi/odata/v4/Harbor/Webhook.Get(3)`.
struct WebhookCall: Equatable {
    var method: String
    var database: String
    /// `GetAll`, `Get`, `Add`, `Delete`, `Invoke`, or a name that servers do not know.
    var function: String
    /// The text in parentheses.
    var argument: String?

    /// Parses the path of a request; nil for all other paths.
    init?(_ request: SandboxRequest) {
        let encoded = request.path.split(separator: "/")
        let segments = encoded.compactMap { PercentCoding.decode($0) }
        guard encoded.count == 5, segments.count == 5, segments[0] == "fmi", segments[1] == "odata",
            segments[2] == "v4",
            segments[4].hasPrefix("Webhook.")
        else { return nil }
        method = request.method
        database = segments[3]
        let name = segments[4].dropFirst("Webhook.".count)
        function = String(name.prefix { $0 != "(" })
        argument = name.hasSuffix(")") ? String(name.dropFirst(function.count + 1).dropLast()) : nil
    }
}
