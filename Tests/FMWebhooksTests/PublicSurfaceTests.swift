import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import FMWebhooks
import Foundation
import OpenCombine
import Testing

/// A record of the sample database.
private struct Contact: LayoutRecord {
    static let layout = "Contacts"

    var name: String

    enum CodingKeys: String, CodingKey { case name = "Name" }
}

/// The module as users see it, in real time: the code of its article, without `@testable`.
@Suite(.timeLimit(.minutes(15))) struct PublicSurfaceTests {
    @Test func aCommitOnTheServerIsAChangeOfALiveQuery() async throws {
        // A busy machine must not reach the idle limit, which is in real time.
        var configuration = Sandbox.Configuration()
        configuration.keepAlive = .seconds(3600)
        configuration.odata = .webhooks()
        let sandbox = try await Sandbox.start(configuration: configuration)
        let database = DataAPI.Server(host: sandbox.url)
            .addDatabase("World", credentials: Credentials(user: "admin", password: "secret"))
        let key = WebhookKey(mark: UUID())
        let receiver = WebhookReceiver(key: key) { hint in
            database.changed(hint)
        }
        try await receiver.start()

        // A registrar would take ten seconds, so the webhook is made by hand.
        let port: Int = try #require(receiver.port)
        let hook: [String: Any] = [
            "webhook": "http://127.0.0.1:\(port)\(key.path(database: "World", table: "Contacts"))",
            "tableName": "Contacts", "endpointHeaders": [WebhookKey.header: key.secret], "select": "ROWID",
        ]
        let client = try await RawHTTPClient.connect(host: sandbox.host, port: sandbox.port)
        let added = try await client.send(
            "POST",
            "/fmi/odata/v4/World/Webhook.Add",
            headers: [("Authorization", "Basic \(Data("admin:secret".utf8).base64EncodedString())")],
            body: Array(try JSONSerialization.data(withJSONObject: hook))
        )
        expectNoDifference(added.status, 200)

        // By itself the query would poll after an hour.
        let options = DataAPI.LiveOptions(every: .seconds(3600) ... .seconds(3600))
        let contacts = TrackingSubscriber<DataAPI.LiveValue<Contact>, FMRest.APIError>()
        database.layout(Contact.self).live(options).subscribe(contacts)
        await contacts.valueCount(atLeast: 1)
        try sandbox.editRecord(2, ["Name": "Emmy Noether"], ofTable: "Contacts", inDatabase: "World")
        await contacts.valueCount(atLeast: 2)
        expectNoDifference(contacts.values[1].changes.updated.map(\.record.fieldData.name), ["Emmy Noether"])
        expectNoDifference(contacts.values[1].freshness.origin, .wake)
        contacts.cancel()

        _ = try await database.server.shutdown().firstValue()
        try await client.close()
        await receiver.stop()
        await sandbox.stop()
    }

    @Test func aRegistrarThatIsStoppedBeforeItBegan() async {
        let registrar = WebhookRegistrar(
            database: DataAPI.Server(host: "127.0.0.1:9").addDatabase("World"),
            credentials: Credentials(user: "hooks", password: "pa55word"),
            key: WebhookKey(mark: UUID(), secret: "s3cret"),
            receiverURL: "http://127.0.0.1:8055",
            tables: ["Contacts"]
        )
        var text = "\(registrar)"
        customDump(registrar, to: &text)
        #expect(!text.contains("pa55word") && !text.contains("s3cret"))
        let health = TrackingSubscriber<WebhookHealth, Never>()
        registrar.health.subscribe(health)
        await registrar.stop()
        await registrar.stop()
        registrar.start()
        await health.completion()
        expectNoDifference(health.values.last, .init(state: .stopped(hooksLeft: 0)))
    }
}
