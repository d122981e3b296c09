import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// What a middleware is told of the requests of all endpoints.
@Suite(.timeLimit(.minutes(15))) struct OperationTests {
    private typealias Records = DataAPI.RecordResponse<FieldData, EmptyPortal>

    private let layout = DataAPI.Server(host: "fms.example.com").addDatabase("sessions").addLayout("records")

    @Test func theOperationOfEachRequest() throws {
        var generator = SystemRandomNumberGenerator()
        let file = FMRest.ContainerFile(fileName: "a.txt", data: Data())
        let none = EditRecord(editRecord: FieldData())
        let range: DataAPIRequest<Records> = try .records(of: layout, query: RecordQuery())
        let one: DataAPIRequest<Records> = try .record(1, of: layout, query: RecordQuery())
        let found: DataAPIRequest<Records> = try .find(in: layout, query: FindQuery(query: [["a": "b"]]))
        let upload: DataAPIRequest<DataAPI.UploadResponse> = try .upload(
            file,
            to: "Photo",
            recordId: 1,
            of: layout,
            repetition: nil,
            modId: nil,
            observer: nil,
            using: &generator
        )
        let definition = WebhookDefinition(
            url: "http://127.0.0.1",
            table: "a",
            headers: [:],
            select: [],
            notifiesSchemaChanges: false,
            maximumAttempts: 1,
            form: .current
        )
        expectNoDifference(
            [
                DataAPIRequest.productInfo().operation, DataAPIRequest.databaseNames(nil).operation,
                DataAPIRequest.validateSession(.session).operation,
                DataAPIRequest.oAuthProviders().operation,
                DataAPIRequest.oAuthStart(provider: "a", returnURL: "b", trackingId: "c").operation,
                DataAPIRequest.logIn(to: "layouts", as: .invalid, dataSources: nil).operation,
                DataAPIRequest.logOut(of: "layouts", token: SessionToken("T1")).operation,
                DataAPIRequest.layoutNames(in: "sessions").operation,
                DataAPIRequest.scriptNames(in: "sessions").operation,
                try DataAPIRequest.setGlobals([:], in: "sessions").operation,
                DataAPIRequest.layoutMetadata(of: layout, recordId: 1).operation,
                DataAPIRequest.oldLayoutMetadata(of: layout).operation,
                range.operation, one.operation, found.operation,
                try DataAPIRequest.create(in: layout, record: none).operation,
                try DataAPIRequest.edit(1, of: layout, record: none).operation,
                DataAPIRequest.duplicate(1, of: layout, script: nil).operation,
                try DataAPIRequest.delete(1, of: layout, script: nil).operation,
                DataAPIRequest.run(script: "records", parameter: nil, in: layout).operation,
                upload.operation,
                DataAPIRequest.webhooks(in: "a", .invalid).operation,
                DataAPIRequest.webhook(1, in: "a", .invalid).operation,
                DataAPIRequest.addWebhook(definition, in: "a", .invalid).operation,
                DataAPIRequest.deleteWebhook(1, in: "a", .invalid).operation,
            ],
            [
                .productInfo, .databaseNames, .validateSession, .oAuth, .oAuth, .logIn, .logOut, .layoutNames,
                .scriptNames, .setGlobals, .layoutMetadata, .layoutMetadata, .getRecords, .getRecord, .findRecords,
                .createRecord, .editRecord, .duplicateRecord, .deleteRecord, .runScript, .uploadContainer, .webhooks,
                .webhooks, .webhooks, .webhooks,
            ]
        )
    }

    /// Every request of the library, whichever part of it sends the request.
    @Test func everyRequestIsSeen() async throws {
        let lines = Locked<[String]>([])
        let noting = DataAPI.Middleware.noting(lines) { request in
            var line = "\(request)"
            if !request.isSafeToRepeat { line += " once" }
            if let tag = request.tag { line += " for \(tag)" }
            #expect(request.origin.hasPrefix("http://127.0.0.1:"))
            #expect(request.database == nil || request.database == "World")
            return line
        }
        try await World.run(
            sandbox: { $0.odata = .webhooks(.init()) },
            client: { $0.middleware = [noting] }
        ) { world in
            let (database, contacts) = (world.database, world.contacts.tagged("import"))
            _ = try await database.server.getProductInfo().firstValue()
            _ = try await database.server.getOAuthProviders().firstValue()
            _ = try await database.getLayoutNames().firstValue()
            _ = try await database.validateSession().firstValue()
            _ = try await contacts.records(FieldData.self).collect().firstValue()
            _ = try await contacts.findRecords(query: FindQuery(query: [["Name": "Ada"]])).returnAs(FieldData.self)
                .firstValue()
            let id = try await contacts.createRecord().firstValue().recordId
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("a".utf8))
            _ = try await contacts.uploadContainer(file, to: "Photo", recordId: id).firstValue()
            _ = try await contacts.downloadContainer(fieldName: "Photo", recordId: id).toMemory().firstValue()
            _ = try await contacts.deleteRecord(recordId: id).firstValue()
            _ = try await database.webhooks(
                Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
            )
            .firstValue()
            _ = try await database.withSessionPublisher { pinned in
                pinned.setGlobals(["Contacts::gFilter": "x"])
            }
            .firstValue()
        }
        let records = "/databases/World/layouts/Contacts/records"
        expectNoDifference(
            Array(lines.value.prefix(15)),
            [
                "productInfo: GET /productInfo",
                "oAuth: GET /fmws/oauthproviderinfo",
                "logIn: POST /databases/World/sessions once",
                "layoutNames: GET /databases/World/layouts",
                "validateSession: GET /validateSession",
                "getRecords: GET \(records) for import",
                "findRecords: POST /databases/World/layouts/Contacts/_find for import",
                "createRecord: POST \(records) once for import",
                "uploadContainer: POST \(records)/{recordId}/containers/Photo/{repetition} once for import",
                "getRecord: GET \(records)/{recordId} for import",
                "downloadContainer: GET /{content} for import",
                "downloadContainer: GET /{content} for import",
                "deleteRecord: DELETE \(records)/{recordId} once for import",
                "webhooks: GET /fmi/odata/v4/World/Webhook.GetAll",
                "setGlobals: PATCH /databases/World/globals once",
            ]
        )
        expectNoDifference(lines.value.dropFirst(15), ["logOut: DELETE /databases/World/sessions/{token}"])
    }

    @Test func aPollOfALiveQueryIsMarked() async throws {
        let polls = Locked<[Bool]>([])
        let noting = DataAPI.Middleware { request, next in
            if request.operation == .getRecords { polls.change { $0.append(request.isPoll) } }
            return next(request)
        }
        try await World.run(client: { $0.middleware = [noting] }) { world in
            let live = world.database.layout(PlainContact.self).live(isolation: nil)
                .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            await until { !polls.value.isEmpty }
            live.cancel()
            expectNoDifference(polls.value.first, true)
            _ = try await world.contacts.getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(polls.value.last, false)
        }
    }
}
