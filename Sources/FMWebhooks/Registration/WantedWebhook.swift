import FMData

/// A webhook that should exist on the server.
struct WantedWebhook: Hashable, Sendable {
    /// The URL, with the mark in its path.
    var url: String
    var table: String
    var secret: String
    var select: [String]
    var notifiesSchemaChanges: Bool
    var maximumAttempts: Int

    /// A property in which a webhook on the server differs from the wanted one.
    enum Difference: String, Hashable, Sendable {
        case table, secret, select, filter
        case notifiesSchemaChanges = "notifySchemaChanges"
    }

    /// The first difference; `nil` when the webhook fits, as far as the server returns its properties.
    func difference(from hook: RegisteredWebhook) -> Difference? {
        if hook.table.lowercased() != table.lowercased() { return .table }
        if let headers = hook.headers {
            let name = WebhookKey.header.lowercased()
            let given = headers.first { $0.key.lowercased() == name }?.value ?? ""
            if !secret.isEqualInConstantTime(to: given) { return .secret }
        }
        if let selected = hook.select, Self.names(selected) != Self.names(select.joined(separator: ",")) {
            return .select
        }
        if hook.filter.map(\.isEmpty) == false { return .filter }
        if let notifies = hook.notifiesSchemaChanges, notifies != notifiesSchemaChanges {
            return .notifiesSchemaChanges
        }
        return nil
    }

    /// The fields of a list, ignoring quotes and order.
    private static func names(_ list: String) -> Set<String> {
        Set(
            list.split(separator: ",").map { name in
                String(name.lowercased().drop { " \"".contains($0) }.reversed().drop { " \"".contains($0) }.reversed())
            }
        )
    }

    func definition(_ form: WebhookDefinition.Form) -> WebhookDefinition {
        WebhookDefinition(
            url: url,
            table: table,
            headers: [WebhookKey.header: secret],
            select: select,
            notifiesSchemaChanges: notifiesSchemaChanges,
            maximumAttempts: maximumAttempts,
            form: form
        )
    }
}
