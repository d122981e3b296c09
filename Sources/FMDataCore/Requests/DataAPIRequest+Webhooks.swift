import FMHTTP

// The OData calls that register webhooks. They use no sessions: each carries its own credentials. FMWebhooks reads the
// answers, since servers spell them in two ways and no other module needs them.

/// The definition of a webhook to register.
///
/// Source: Claris OData guide, "Create a webhook".
package struct WebhookDefinition: Hashable, Sendable {
    /// The forms that servers differ in.
    package enum Form: Hashable, Sendable {
        /// `endpointHeaders`, `queryHeaders` and `maxFailedAttempts`.
        case current
        /// `headers` alone, as in the guide's first edition.
        case older
    }

    /// The URL that deliveries are sent to.
    package var url: String
    /// The table occurrence that is watched.
    package var table: String
    /// Headers of each delivery, for example with a secret.
    package var headers: [String: String]
    /// The fields that a delivery contains.
    package var select: [String]
    package var notifiesSchemaChanges: Bool
    /// The number of attempts after which the server gives up a delivery. Sent in the current form only.
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
            // Hidden: the receiver knows its hooks by the URL's path, as it does by the secret.
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
