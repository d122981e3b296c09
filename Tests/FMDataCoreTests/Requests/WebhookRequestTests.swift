import CustomDump
import FMData
import FMHTTP
import Foundation
import Testing

@testable import FMDataCore

/// The OData requests about webhooks as values, without a server.
@Suite struct WebhookRequestTests {
    private let hooks = Credentials(user: "hooks", password: "pa55word")
    private let definition = WebhookDefinition(
        url: "http://127.0.0.1:8055/m4rk/Harbor/Vessels",
        table: "Vessels",
        headers: ["X-FMData-Secret": "s3cret"],
        select: ["ROWID", "ROWMODID"],
        notifiesSchemaChanges: true,
        maximumAttempts: 100,
        form: .current
    )

    @Test func pathsAndMethods() throws {
        let requests: [DataAPIRequest<ODataAnswer>] = [
            .webhooks(in: "Big Harbor", hooks), .webhook(3, in: "Big Harbor", hooks),
            .addWebhook(definition, in: "Big Harbor", hooks), .deleteWebhook(3, in: "Big Harbor", hooks),
        ]
        expectNoDifference(
            try requests.map { "\($0.method.rawValue) \(try $0.encodedTarget())" },
            [
                "GET /fmi/odata/v4/Big%20Harbor/Webhook.GetAll", "GET /fmi/odata/v4/Big%20Harbor/Webhook.Get(3)",
                "POST /fmi/odata/v4/Big%20Harbor/Webhook.Add", "POST /fmi/odata/v4/Big%20Harbor/Webhook.Delete(3)",
            ]
        )
        expectNoDifference(requests.map(\.isSafeToRepeat), [true, true, false, false])
        expectNoDifference(requests.map(\.authorization), Array(repeating: .credentials(hooks), count: 4))
        // Their paths begin at the host, whatever the root of the Data API is.
        let server = DataAPI.Server(host: "fms.example.com")
        expectNoDifference(try requests[0].target(below: server.apiRoot), "/fmi/odata/v4/Big%20Harbor/Webhook.GetAll")
        let summary = requests[3].summary(at: Origin(scheme: .https, host: "fms.example.com"), below: "/fmi/data/v1")
        expectNoDifference(summary.path, "/fmi/odata/v4/Big%20Harbor/Webhook.Delete(3)")
        expectNoDifference("\(requests[3])", "POST /fmi/odata/v4/Big Harbor/Webhook.Delete(3)")
    }

    @Test func aDefinitionInBothForms() throws {
        var definition = definition
        let current: DataAPIRequest<ODataAnswer> = .addWebhook(definition, in: "Harbor", hooks)
        expectNoDifference(
            current.bodyText,
            #"{"webhook":"http://127.0.0.1:8055/m4rk/Harbor/Vessels","tableName":"Vessels","#
                + #""endpointHeaders":{"X-FMData-Secret":"s3cret"},"select":"ROWID,ROWMODID","#
                + #""notifySchemaChanges":true,"maxFailedAttempts":100}"#
        )
        definition.form = .older
        let older: DataAPIRequest<ODataAnswer> = .addWebhook(definition, in: "Harbor", hooks)
        expectNoDifference(
            older.bodyText,
            #"{"webhook":"http://127.0.0.1:8055/m4rk/Harbor/Vessels","tableName":"Vessels","#
                + #""headers":{"X-FMData-Secret":"s3cret"},"select":"ROWID,ROWMODID","notifySchemaChanges":true}"#
        )
        let deletion: DataAPIRequest<ODataAnswer> = .deleteWebhook(3, in: "Harbor", hooks)
        expectNoDifference(deletion.bodyText, "{}")
    }

    @Test func aSummaryHidesTheSecretTheMarkAndThePassword() {
        let request: DataAPIRequest<ODataAnswer> = .addWebhook(definition, in: "Harbor", hooks)
        var text = "\(request)"
        customDump(request.summary(at: Origin(scheme: .https, host: "fms.example.com")), to: &text)
        for secret in ["s3cret", "m4rk", "pa55word", "aG9va3M"] { #expect(!text.contains(secret)) }
    }
}
