import FMHTTP

// The OData calls that register webhooks. They know nothing of sessions: each proves by itself who is asking. What they answer
// is read by FMWebhooks, since servers spell it in two ways and nobody else needs it.

/// A webhook as it is asked for.
///
/// Source: Claris OData guide, "Create a webhook".
package struct WebhookDefinition: Hashable, Sendable {
    /// How servers differ in what they take.
    package enum Form: Hashable, Sendable {
        /// `endpointHeaders`, `queryHeaders` and `maxFailedAttempts`.
        case current
        /// `headers` alone, as the guide first had it.
        case older
    }

    /// Where deliveries go.
    package var url: String
    /// The table occurrence.
    package var table: String
    /// What each delivery has among its headers, a secret for one.
    package var headers: [String: String]
    /// The fields in a delivery.
    package var select: [String]
    package var notifiesSchemaChanges: Bool
    /// After how many attempts the server gives a delivery up. Sent in the current form only.
    package var maximumAttempts: Int
    package var form: Form

    package init(
        url: String,
        table: String,
        headers: [String: String],
        select: [String],
        notifiesSchemaChanges: Bool,
        maximumAttempts: Int,
        form: Form
    ) {
        self.url = url
        self.table = table
        self.headers = headers
        self.select = select
        self.notifiesSchemaChanges = notifiesSchemaChanges
        self.maximumAttempts = maximumAttempts
        self.form = form
    }

    var options: [WireOption] {
        var options = [WireOption](joining: [
            // Its path is what the receiver knows its hooks by, next to the secret.
            .hidden("webhook", url), .shown("tableName", table),
        ])
        options.append(
            WireOption(
                name: form == .current ? "endpointHeaders" : "headers",
                value: .object(headers),
                disclosure: .hidden
            )
        )
        options += .shown("select", select.joined(separator: ","))
        options.append(
            WireOption(
                name: "notifySchemaChanges",
                value: .literal(notifiesSchemaChanges ? "true" : "false"),
                disclosure: .shown
            )
        )
        guard form == .current else { return options }
        options.append(
            WireOption(name: "maxFailedAttempts", value: .literal("\(maximumAttempts)"), disclosure: .shown)
        )
        return options
    }
}

extension DataAPIRequest where Response == ODataAnswer {
    static func webhooks(in database: String, _ credentials: DataAPI.Credentials) -> Self {
        Self(
            method: .GET,
            root: .host,
            path: .webhooks("GetAll", in: database),
            authorization: .credentials(credentials),
            isSafeToRepeat: true
        )
    }

    static func webhook(_ id: Int, in database: String, _ credentials: DataAPI.Credentials) -> Self {
        Self(
            method: .GET,
            root: .host,
            path: .webhooks("Get", id, in: database),
            authorization: .credentials(credentials),
            isSafeToRepeat: true
        )
    }

    static func addWebhook(
        _ definition: WebhookDefinition,
        in database: String,
        _ credentials: DataAPI.Credentials
    ) -> Self {
        Self(
            method: .POST,
            root: .host,
            path: .webhooks("Add", in: database),
            options: definition.options,
            body: .json,
            authorization: .credentials(credentials)
        )
    }

    static func deleteWebhook(_ id: Int, in database: String, _ credentials: DataAPI.Credentials) -> Self {
        Self(
            method: .POST,
            root: .host,
            path: .webhooks("Delete", id, in: database),
            body: .json,
            authorization: .credentials(credentials)
        )
    }
}
