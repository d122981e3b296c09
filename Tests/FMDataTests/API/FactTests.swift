import CustomDump
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMData

/// Facts of the protocol, pinned on both sides: the client does right, and the embedded server refuses who does not.
@Suite(.timeLimit(.minutes(15))) struct FactTests {
    // MARK: Sessions

    @Test func aTokenLivesFifteenMinutesAfterItsLastUse() async throws {
        let clock = ManualClock()
        try await World.run(sandbox: { $0.clock = clock }) { world in
            for minutes in [14, 14, 16] {
                _ = try await world.database.getScriptNames().firstValue()
                clock.advance(by: .seconds(minutes * 60))
            }
            expectNoDifference(world.sandbox.counters.logins, 1)
            expectNoDifference(world.sandbox.counters.openSessions, 0)
            _ = try await world.database.getScriptNames().firstValue()
            expectNoDifference(world.sandbox.counters.logins, 2)
            expectNoDifference(world.sandbox.counters.expiredSessions, 1)
        }
    }

    @Test func aSessionBelongsToTheDatabaseAsSpelled() async throws {
        try await World.run { world in
            _ = try await world.database.getScriptNames().firstValue()
            guard case .token(let token) = world.database.credentials.secret else {
                return #expect(Bool(false), "a log-in brings a token")
            }
            let error = await world.database.server.perform {
                DataAPIRequest<ScriptListBody>(
                    method: .GET,
                    path: .database("WORLD") / "scripts",
                    authorization: .credentials(Credentials(token: token))
                )
            }.awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .invalidToken)
            expectNoDifference(error?.httpStatus, 401)
        }
    }

    // MARK: URLs and bodies

    @Test func aConfidentialParameterTakesTheBody() async throws {
        try await World.run { world in
            let long = String(repeating: "ü", count: 400)
            let response = try await world.contacts.executeScript(script: "Echo", parameter: .confidential(long))
                .firstValue()
            expectNoDifference(response.scriptResult, long)
            expectNoDifference(world.sandbox.counters.requests[.runScript], nil)
            expectNoDifference(world.sandbox.counters.requests[.find], 1)
        }
    }

    @Test func aSlashInALayoutIsEncoded() async throws {
        try await Hosted.run(
            Solution(
                name: "a/b",
                tables: [.init(name: "T", fields: [.init("F")], records: [.init(["F": "v"])])],
                layouts: [.layout(.init(name: "a/b", table: "T", fields: ["F"]))]
            )
        ) { database, sandbox in
            let response = try await database.addLayout("a/b").getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(response.data.first?.fieldData["F"]?.text, "v")
            expectNoDifference(sandbox.counters.strayRequests, 0)
        }
    }

    @Test func aBodyNeedsItsContentTypeAndEveryWriterSendsIt() async throws {
        try await World.run { world in
            let contacts = world.contacts
            _ = try await contacts.createRecord().firstValue()
            _ = try await contacts.editRecord(record: EditRecord(editRecord: EmptyPortal()), recordId: 1).firstValue()
            _ = try await contacts.duplicateRecord(recordId: 1).firstValue()
            _ = try await contacts.findRecords(query: FindQuery(query: [["Name": "*"]])).returnAs(FieldData.self)
                .firstValue()
            _ = try await world.database.withSession { pinned in
                pinned.setGlobalFields(globalFields: ["Contacts::gFilter": "x"])
            }.firstValue()
            expectNoDifference(world.sandbox.counters.strayRequests, 0)

            var request = DataAPIRequest<DataAPI.CreateResponse>(
                method: .POST,
                path: .records(of: "Contacts", in: "World")
            )
            request.isSafeToRepeat = false
            let bare = request
            let error = await world.database.perform { bare }.awaitSingleResult().failure
            expectNoDifference(error?.httpStatus, 415)
            expectNoDifference(error?.fileMakerCode, .headerMissing)
        }
    }

    @Test func aGETHasUnderscoresAndAFindHasNone() async throws {
        try await World.run { world in
            let portal = [PortalRequest(name: "Zones", limit: 2, offset: 2)]
            let range = try await world.countries.getRecords(
                recordQuery: RecordQuery(portal: portal, offset: 15, limit: 1, sortOrder: [.init(fieldName: "Name")])
            ).returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            expectNoDifference(range.data.count, 1)
            let find = try await world.countries.findRecords(
                query: FindQuery(
                    query: [["Code": "==AU"]],
                    sort: [.init(fieldName: "Name")],
                    offset: 1,
                    limit: 1,
                    portal: portal
                )
            ).returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            expectNoDifference(find.data.first?.portalData?["Zones"]?.count, 2)

            func refused(_ request: DataAPIRequest<FMRest.EmptyResponse>) async -> FMRest.APIError? {
                await world.database.perform { request }.awaitSingleResult().failure
            }
            let get = await refused(
                .init(method: .GET, path: .records(of: "Zones", in: "World"), options: .shown("limit", "1"))
            )
            let post = await refused(
                .init(
                    method: .POST,
                    path: .layout("Zones", in: "World") / "_find",
                    options: .init(joining: [.criteria([["Name": "*"]]), .shown("_limit", "1")]),
                    body: .json
                )
            )
            for error in [get, post] {
                expectNoDifference(error?.fileMakerCode, .parameterInvalid)
                expectNoDifference(error?.httpStatus, 400)
            }
        }
    }

    @Test func hundredRecordsAndFiftyRowsAreTheDefaultsAndOffsetsCountFromOne() async throws {
        let rows = (1...60).map { Solution.Record(["ParentId": "1", "Number": "\($0)"]) }
        let records = (1...150).map { Solution.Record(["Id": "\($0)"]) }
        let solution = Solution(
            name: "Many",
            tables: [
                .init(name: "Parents", fields: [.init("Id", .number)], records: records),
                .init(name: "Rows", fields: [.init("ParentId", .number), .init("Number", .number)], records: rows),
            ],
            relationships: [.init("Parents", "Rows", matches: [.init("Id", "ParentId")])],
            layouts: [
                .layout(
                    .init(
                        name: "Parents",
                        table: "Parents",
                        fields: ["Id"],
                        portals: [.init(table: "Rows", fields: ["Rows::Number"])]
                    )
                )
            ]
        )
        try await Hosted.run(solution) { database, _ in
            let layout = database.addLayout("Parents")
            let all = try await layout.getRecords().returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            expectNoDifference([all.data.count, all.dataInfo.returnedCount, all.dataInfo.foundCount], [100, 100, 150])
            expectNoDifference(all.data[0].portalData?["Rows"]?.count, 50)
            expectNoDifference(all.data[0].portalDataInfo?.first?.foundCount, 60)
            let second = try await layout.getRecords(recordQuery: RecordQuery(offset: 2, limit: 1)).returnAs(
                FieldData.self
            )
            .firstValue()
            expectNoDifference(second.data.first?.fieldData["Id"]?.int, 2)
            let last = try await layout.getRecordById(
                recordId: all.data[0].recordId,
                recordQuery: RecordQuery(portal: [PortalRequest(name: "Rows", limit: 50, offset: 51)])
            ).returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            expectNoDifference(last.data[0].portalData?["Rows"]?.map { $0["Rows::Number"]?.int }, (51...60).map { $0 })
            let past = await layout.getRecords(recordQuery: RecordQuery(offset: 151)).returnAs(FieldData.self)
                .awaitSingleResult().failure
            expectNoDifference(past?.fileMakerCode, .recordMissing)
        }
    }

    // MARK: Errors

    @Test func errorsComeWithMessagesOrAsThePageOfTheWebServer() async throws {
        try await World.run { world in
            let refused = await world.contacts.getRecordById(recordId: 999).returnAs(FieldData.self).awaitSingleResult()
                .failure
            expectNoDifference(refused?.fileMakerCode, .recordMissing)
            expectNoDifference(refused?.httpStatus, 500)
            world.sandbox.inject(.html(status: 503), on: .getRecord)
            let page = await world.contacts.getRecordById(recordId: 1).returnAs(FieldData.self).awaitSingleResult()
                .failure
            expectNoDifference(page?.code, .notDataAPI)
            expectNoDifference(page?.isRetryable, true)
        }
    }

    @Test func anEmptyFindIs401WithStatus500AndABadTokenIs952WithStatus401() async throws {
        try await World.run { world in
            let empty = await world.contacts.findRecords(
                query: FindQuery(query: [["Name": "==Nobody"]], noMatch: .failure)
            )
            .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(empty?.fileMakerCode, .noRecordsMatch)
            expectNoDifference(empty?.httpStatus, 500)
            let token = await world.database.server.validateSession(credentials: Credentials(token: "deadbeef"))
                .awaitSingleResult().failure
            expectNoDifference(token?.fileMakerCode, .invalidToken)
            expectNoDifference(token?.httpStatus, 401)
        }
    }

    // MARK: Writing

    @Test func deleteRelatedGoesInsideFieldData() async throws {
        try await World.run { world in
            let before = try await world.contacts.getRecordById(recordId: 1)
                .returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
            let rows = try #require(before.data.first?.portalData?["Phones"])
            let first = try #require(rows.first?["recordId"]?.int)
            var edit = EditRecord(editRecord: EmptyPortal())
            edit.deleteRelated = [.init(portal: "Phones", recordId: first)]
            _ = try await world.contacts.editRecord(record: edit, recordId: 1).firstValue()
            expectNoDifference(world.sandbox.records(ofTable: "Phones", inDatabase: "World")?.count, 2)

            let outside = DataAPIRequest<DataAPI.EditRecordResponse>(
                method: .PATCH,
                path: .record(1, of: "Contacts", in: "World"),
                options: .init(joining: [
                    [WireOption(name: "fieldData", value: .object([]), disclosure: .hidden)],
                    .shown("deleteRelated", "Phones.2"),
                ]),
                body: .json
            )
            let error = await world.database.perform { outside }.awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .parameterInvalid)
        }
    }

    @Test func optionsOfAWriteAreUserOrScript() async throws {
        try await World.run { world in
            var record = EditRecord(createRecord: ["Status": "unknown"])
            let refused = await world.contacts.createRecord(record: record).awaitSingleResult().failure
            expectNoDifference(refused?.fileMakerCode, .valueNotInList)
            record.options = .init(entryMode: .script)
            _ = try await world.contacts.createRecord(record: record).firstValue()
            var fixed = EditRecord(editRecord: ["CreatedAt": "01/01/2020 00:00:00"])
            fixed.options = .init(prohibitMode: .user)
            let prohibited = await world.contacts.editRecord(record: fixed, recordId: 1).awaitSingleResult().failure
            expectNoDifference(prohibited?.fileMakerCode, .fieldNotModifiable)
            fixed.options = .init(prohibitMode: .script)
            _ = try await world.contacts.editRecord(record: fixed, recordId: 1).firstValue()
        }
        try await World.run(sandbox: { $0.serverVersion = .v19 }) { world in
            var record = EditRecord(createRecord: ["Name": "a"])
            record.options = .init(entryMode: .script)
            let error = await world.contacts.createRecord(record: record).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .parameterInvalid, "since FileMaker Server 2024")
        }
    }

    @Test(arguments: [(Sandbox.ServerVersion.v18, 1), (.v19, 1), (.v22, 2)])
    func newPortalRecordInfoIsAListWhoseLengthDependsOnTheServer(
        version: Sandbox.ServerVersion,
        count: Int
    ) async throws {
        try await World.run(sandbox: { $0.serverVersion = version }) { world in
            let rows: [String: [[String: String]]] = [
                "Phones": [
                    ["Phones::Kind": "work", "Phones::Number": "1"], ["Phones::Kind": "home", "Phones::Number": "2"],
                ]
            ]
            let edited = try await world.contacts.editRecord(
                record: EditRecord(editRecord: EmptyPortal(), portalData: rows),
                recordId: 1
            ).firstValue()
            expectNoDifference(edited.newPortalRecordInfo.count, count)
        }
    }

    @Test func anEmptyEditSucceedsAndDoesNothing() async throws {
        try await World.run { world in
            let before = world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.values
            let edited = try await world.contacts.editRecord(record: EditRecord(editRecord: EmptyPortal()), recordId: 1)
                .firstValue()
            #expect(edited.modId >= 0)
            expectNoDifference(world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.values, before)
        }
    }

    @Test func aNullIsRefusedSoNoneIsSent() async throws {
        try await World.run { world in
            let null = DataAPIRequest<DataAPI.EditRecordResponse>(
                method: .PATCH,
                path: .record(1, of: "Contacts", in: "World"),
                options: [
                    WireOption(
                        name: "fieldData",
                        value: .object([.init(name: "City", value: .literal("null"))]),
                        disclosure: .hidden
                    )
                ],
                body: .json
            )
            let error = await world.database.perform { null }.awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .parameterValueInvalid)
            expectNoDifference(error?.httpStatus, 400)
            _ = try await world.contacts.editRecord(record: EditRecord(editRecord: ["City": String?.none]), recordId: 1)
                .firstValue()
            expectNoDifference(
                world.sandbox.records(ofTable: "Contacts", inDatabase: "World")?.first?.values["City"],
                nil
            )
        }
    }

    // MARK: Scripts and data sources

    @Test func anErrorOfAScriptIsATextForEachPhaseAndNoFailureOfTheCall() async throws {
        try await World.run { world in
            let script = ScriptQuery(script: "Visit All", scriptPreSort: "Fail", scriptPreRequest: "Echo")
            let response = try await world.contacts.getRecords(recordQuery: RecordQuery(script: script))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(
                response.scriptResponse.map { [$0.scriptErrorPreRequest, $0.scriptErrorPreSort, $0.scriptError] },
                ["0", "5", "101"]
            )
        }
    }

    @Test func credentialsOfADataSourceAreCheckedWhenItIsUsed() async throws {
        let stock = Solution(
            name: "Stock",
            tables: [.init(name: "Items", fields: [.init("Name")], records: [.init(["Name": "Tea"])])],
            layouts: [.layout(.init(name: "Items", table: "Items", fields: ["Name"]))],
            accounts: [.init(name: "clerk", password: "tea")]
        )
        let shop = Solution(
            name: "Shop",
            tables: [.init(name: "Orders", fields: [.init("Number")], records: [.init(["Number": "1"])])],
            occurrences: [.init(name: "Items", table: "Items", dataSource: "Stock")],
            layouts: [
                .layout(.init(name: "Orders", table: "Orders", fields: ["Number"])),
                .layout(.init(name: "Items", table: "Items", fields: ["Name"])),
            ],
            accounts: [.init(name: "admin", password: "")],
            dataSources: [.init(name: "Stock", database: "Stock")]
        )
        let sandbox = try await Sandbox.start([shop, stock], configuration: .init(keepAlive: .seconds(600)))
        for (password, isRight) in [("wrong", false), ("tea", true)] {
            let database = DataAPI.Server(host: sandbox.url).addDatabase(
                "Shop",
                credentials: Credentials(user: "admin", password: ""),
                dataSources: FMDataSourceAuth(fmDataSource: [
                    .init(database: "Stock", credentials: .basic(user: "clerk", password: password))
                ])
            )
            let own = try await database.addLayout("Orders").getRecords().returnAs(FieldData.self).firstValue()
            expectNoDifference(own.data.count, 1)
            let result = await database.addLayout("Items").getRecords().returnAs(FieldData.self).awaitSingleResult()
            if isRight {
                expectNoDifference(try result.get().data.count, 1)
            } else {
                #expect([100, 212, 802].contains(result.failure?.fileMakerCode?.rawValue))
            }
            _ = try await database.logOut().firstValue()
        }
        await sandbox.stop()
    }
}
