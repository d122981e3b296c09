import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

/// Every call of the publisher API, written as in a program outside the package and run against the sandbox.
@Suite(.timeLimit(.minutes(15))) struct PublisherAPITests {
    enum Layouts: String, LayoutKey {
        case Countries, Zones, Contacts
    }

    enum Renamed: String, LayoutKey {
        case people
        var layoutName: String { "Contacts" }
    }

    // MARK: Tree

    @Test func treeIsReachableFromEveryChild() {
        let layout = DataAPI.Server(host: "www.example.com").addDatabase("databaseName").addLayout(Layouts.Zones)
        #expect(layout.database.server.host == "www.example.com")
        #expect(layout.name == "Zones")
        #expect(layout.database.addLayout(Renamed.people).name == "Contacts")
        #expect(layout.database.addLayout("Zones") == layout)
    }

    @Test func sameNameGivesTheSameLiveDatabase() {
        let server = DataAPI.Server(host: "www.example.com:443")
        let database = server.addDatabase("databaseName")
        #expect(server.addDatabase("databaseName") === database)
        #expect(server.databases.map(\.name) == ["databaseName"])
    }

    @Test func aServerForgetsADatabaseNobodyUses() {
        let server = DataAPI.Server(host: "www.example.com")
        _ = server.addDatabase("databaseName")
        #expect(server.databases.isEmpty)
    }

    @Test func configuration() {
        var config = DataAPI.Config()
        config.version = .v2
        config.scheme = .https
        config.rootPath = "/fmi/data"
        config.decoder = JSONDecoder()
        config.encoder = JSONEncoder()
        #expect(DataAPI.Server(host: "www.example.com", config: config).config.version == .v2)
    }

    // MARK: Credentials

    @Test func credentials() {
        #expect(Credentials(user: "u", password: "p").kind == .basic)
        #expect(Credentials(oAuthId: "id", oAuthIdentifier: "identifier").kind == .oAuth)
        #expect(Credentials(clarisId: "token").kind == .clarisId)
        #expect(Credentials(token: "token").kind == .token)
        #expect(Credentials.invalid.kind == .invalid)
        let sources = FMDataSourceAuth(fmDataSource: [
            .init(database: "externalDb", credentials: .basic(user: "userName", password: "password")),
            .init(database: "other", credentials: .oAuth(requestId: "request", identifier: "identifier")),
        ])
        #expect(sources.fmDataSource.count == 2)
    }

    @Test func loginReplacesCredentialsByATokenAndLogOutEndsTheSession() async throws {
        try await withWorld { database, sandbox in
            var states: [Credentials.Kind] = []
            let watch = database.$credentials.sink { states.append($0.kind) }
            defer { watch.cancel() }
            let token = try await database.login(
                credentials: .init(user: "admin", password: "secret"),
                dataSourceCredentials: FMDataSourceAuth(fmDataSource: [])
            ).firstValue()
            #expect(token.kind == .token)
            #expect(database.credentials == token)
            #expect(sandbox.counters.openSessions == 1)
            _ = try await database.server.validateSession(credentials: database.credentials).firstValue()
            let _: FMRest.EmptyResponse = try await database.logOut().firstValue()
            #expect(sandbox.counters.openSessions == 0)
            #expect(states.contains(.token))
        }
    }

    // MARK: Server and database

    @Test func serverCalls() async throws {
        try await withWorld { database, _ in
            let server = database.server
            let product: DataAPI.Server.ProductInfo = try await server.getProductInfo().firstValue()
            #expect(product.dateFormat == "MM/dd/yyyy")
            let format = try product.valueFormat()
            #expect(FMDate("2024-02-29", format: .iso)?.text(format) == "02/29/2024")
            _ = [product.name, product.timeFormat, product.timeStampFormat]
            _ = [product.version, product.buildDate]
            let names: DataAPI.Database.DatabaseListResponse = try await server.getDatabaseNames(
                credentials: .init(user: "admin", password: "secret")
            ).firstValue()
            #expect(names.databases.map(\.name).contains("World"))
            _ = try await server.getDatabaseNames().firstValue()
        }
    }

    @Test func lists() async throws {
        try await withWorld { database, _ in
            let layouts: [DataAPI.Database.LayoutListItem] = try await database.getLayoutNames().firstValue()
            #expect(layouts.flatMap(\.allLayouts).map(\.name).contains("Countries"))
            expectNoDifference(database.layoutList, layouts)
            let names: [String] = try await database.layoutNames().firstValue()
            expectNoDifference(names, layouts.flatMap(\.allLayouts).map(\.name))
            let scriptNames: [String] = try await database.scriptNames().firstValue()
            #expect(scriptNames.contains("Echo"))
            let scripts: [DataAPI.Database.ScriptItem] = try await database.getScriptNames().firstValue()
            expectNoDifference(database.scriptList, scripts)
            #expect(!scripts.map(\.name).isEmpty)
            for item in layouts {
                switch item {
                case .layout(let layout): #expect(layout.database === database)
                case .folder(let name, let layouts): #expect(!name.isEmpty && layouts.allSatisfy { !$0.name.isEmpty })
                }
            }
        }
    }

    @Test func metadata() async throws {
        try await withWorld { database, _ in
            let metadata: DataAPI.Layout.LayoutMetaData = try await database.addLayout(Layouts.Countries)
                .getLayoutMetadata().firstValue()
            let code = try #require(metadata.fieldMetaData.first { $0.name == "Code" })
            #expect(code.type == .normal && code.result == .text && code.displayType == .editText)
            #expect(!code.global && code.maxRepeat == 1)
            #expect(metadata.portalMetaData["Zones"]?.isEmpty == false)
            _ = try await database.addLayout(Layouts.Countries).getLayoutMetadata(recordId: 1).firstValue()
        }
    }

    @Test func globals() async throws {
        try await withWorld { database, _ in
            let result = await database.setGlobalFields(globalFields: ["fieldName": "Value"]).awaitSingleResult()
            guard case .failure(let error) = result else {
                return #expect(Bool(false), "an unqualified name is refused")
            }
            #expect(error.code == .invalidRequest)
        }
    }

    // MARK: Records

    struct Country: Decodable, Equatable, Sendable {
        var name: String
        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    struct ZonePortal: Decodable, Equatable, Sendable {
        var zones: [Row]
        enum CodingKeys: String, CodingKey { case zones = "Zones" }

        struct Row: DataAPIPortalRecord, Equatable, Sendable {
            var recordId: Int
            var modId: Int
            var name: String
            enum CodingKeys: String, CodingKey { case recordId, modId, name = "Zones::Name" }
        }
    }

    struct Person: Codable, Equatable, Sendable {
        var name: String
        var city: String
        enum CodingKeys: String, CodingKey { case name = "Name", city = "City" }
    }

    @Test func findWithEveryOption() async throws {
        try await withWorld { database, _ in
            let countries = database.addLayout(Layouts.Countries)
            let find = FindQuery(
                query: [["Code": "==NZ"], ["Code": "==AU"]],
                sort: [SortQuery(fieldName: "Name"), SortQuery(fieldName: "Code", sortOrder: .descend)],
                script: ScriptQuery(),
                offset: 1,
                limit: 10,
                layoutResponse: "Countries",
                portal: [PortalRequest(name: "Zones"), PortalRequest(name: "Zones", limit: 30, offset: 1)].suffix(1)
            )
            let response = try await countries.findRecords(query: find).returnAs(Country.self, ZonePortal.self)
                .firstValue()
            expectNoDifference(response.data.map(\.fieldData.name), ["Australia", "New Zealand"])
            #expect(response.data[1].portalData?.zones.map(\.name).contains("Pacific/Auckland") == true)
            #expect(response.dataInfo.foundCount == 2 && response.dataInfo.returnedCount == 2)
            #expect(response.dataInfo.database == "World" && response.dataInfo.layout == "Countries")
            #expect(response.dataInfo.totalRecordCount > 200)
            #expect(response.data[0].portalDataInfo?.first?.foundCount ?? 0 > 5)
            #expect(response.scriptResponse == nil)
        }
    }

    @Test func findWithoutMatchIsEmptyOrAnErrorAsAsked() async throws {
        try await withWorld { database, _ in
            let countries = database.addLayout(Layouts.Countries)
            var find = FindQuery(query: [["Code": "==QQ"]])
            let empty = try await countries.findRecords(query: find).returnAs(Country.self).firstValue()
            #expect(empty.data.isEmpty && empty.dataInfo.foundCount == 0)
            #expect(empty.messages.first?.code == "401")
            find.noMatch = .failure
            await #expect(throws: FMRest.APIError.self) {
                _ = try await countries.findRecords(query: find).returnAs(Country.self).firstValue()
            }
        }
    }

    @Test func rangeAndSingleRecord() async throws {
        try await withWorld { database, _ in
            let countries = database.addLayout(Layouts.Countries)
            let query = RecordQuery(
                script: nil,
                layoutResponse: nil,
                portal: [],
                offset: 1,
                limit: 3,
                sortOrder: [SortQuery(fieldName: "Name")]
            )
            let page = try await countries.getRecords(recordQuery: query).returnAs(Country.self).firstValue()
            #expect(page.data.count == 3)
            let first = try #require(page.data.first)
            let single = try await countries.getRecordById(recordId: first.recordId).returnAs(Country.self).firstValue()
            expectNoDifference(single.data.map(\.fieldData), [first.fieldData])
            let all = try await countries.getRecords().returnAs(Country.self).firstValue()
            #expect(all.data.count == 100)
        }
    }

    @Test func createEditDuplicateDelete() async throws {
        try await withWorld { database, _ in
            let contacts = database.addLayout(Layouts.Contacts)
            let person = Person(name: "Bob Jones", city: "Calgary")
            let created = try await contacts.createRecord(record: EditRecord(createRecord: person)).firstValue()
            var changed = person
            changed.city = "Kiel"
            let edited = try await contacts.editRecord(
                record: EditRecord(editRecord: changed, modId: created.modId),
                recordId: created.recordId
            ).firstValue()
            #expect(edited.modId > created.modId ?? 0)
            let copy = try await contacts.duplicateRecord(recordId: created.recordId).firstValue()
            let read = try await contacts.getRecordById(recordId: copy.recordId).returnAs(Person.self).firstValue()
            expectNoDifference(read.data.map(\.fieldData), [changed])
            let deleted: DataAPI.ScriptResponse = try await contacts.deleteRecord(recordId: created.recordId)
                .firstValue()
            #expect(deleted.isEmpty)
            let empty = try await contacts.createRecord().firstValue()
            #expect(empty.recordId > copy.recordId)
        }
    }

    struct ContactPortals: Codable, Equatable, Sendable {
        var phones: [Phone]
        enum CodingKeys: String, CodingKey { case phones = "Phones" }

        struct Phone: Codable, Equatable, Sendable {
            var recordId: Int?
            var modId: Int?
            var number: String
            enum CodingKeys: String, CodingKey { case recordId, modId, number = "Phones::Number" }
        }
    }

    @Test func writesWithPortalsAndScripts() async throws {
        try await withWorld { database, _ in
            let contacts = database.addLayout(Layouts.Contacts)
            let script = ScriptQuery(script: "Echo", scriptParam: "done")
            let made: DataAPI.CreateResponse = try await contacts.createRecord(
                record: EditRecord(
                    createRecord: Person(name: "Bob", city: "Calgary"),
                    portalData: ContactPortals(phones: [.init(number: "1")]),
                    script: script
                )
            ).firstValue()
            #expect(made.scriptResponse?.scriptResult == "done")
            let edit: DataAPI.EditRecordResponse = try await contacts.editRecord(
                record: EditRecord(
                    editRecord: Person(name: "Bob", city: "Kiel"),
                    portalData: ContactPortals(phones: [.init(number: "2")]),
                    modId: made.modId,
                    script: script
                ),
                recordId: made.recordId
            ).firstValue()
            let row = try #require(edit.newPortalRecordInfo.first)
            #expect(row.tableName == "Phones" && row.recordId > 0 && row.modId == 0)
            let read = try await contacts.getRecordById(recordId: made.recordId)
                .returnAs(Person.self, ContactPortals.self).firstValue()
            expectNoDifference(read.data.first?.portalData?.phones.map(\.number), ["1", "2"])
            let copy: DataAPI.CreateResponse = try await contacts.duplicateRecord(
                recordId: made.recordId,
                scriptQuery: script
            ).firstValue()
            #expect(copy.scriptResponse?.scriptResult == "done")
            let deleted = try await contacts.deleteRecord(recordId: copy.recordId, scriptQuery: script).firstValue()
            #expect(deleted.scriptResult == "done")
        }
    }

    /// This still compiles. Its deprecation says that `layoutResponse` is not sent.
    @available(*, deprecated)
    private func documentedWithLayoutResponse(contacts: DataAPI.Layout) {
        let person = Person(name: "", city: "")
        let portals = ContactPortals(phones: [])
        _ = EditRecord(editRecord: person, portalData: portals, modId: 3, script: nil, layoutResponse: "Contacts")
        _ = EditRecord(createRecord: person, portalData: portals, script: nil, layoutResponse: "Contacts")
    }

    @Test func omitAndTheOrderOfAValueList() async throws {
        try await withWorld { database, _ in
            let contacts = database.addLayout(Layouts.Contacts)
            let find = FindQuery(
                query: [["Name": "*"], ["City": "==Paris", "omit": "true"]],
                sort: [SortQuery(fieldName: "Status", sortOrder: .valueList("Statuses")), SortQuery(fieldName: "Name")]
            )
            let response = try await contacts.findRecords(query: find).returnAs(Person.self).firstValue()
            expectNoDifference(response.data.map(\.fieldData.name), ["Ada Lovelace", "Grace Hopper"])
        }
    }

    @Test func timeLimitsOfSingleCallsAndTheStateOfSessions() async throws {
        try await withWorld { database, _ in
            #expect(!database.sessionStatus.isActive())
            let patient: DataAPI.Database = database.timeouts { $0.firstByte = .seconds(900) }
            _ = try await patient.getLayoutNames().firstValue()
            let contacts: DataAPI.Layout = database.addLayout(Layouts.Contacts).timeouts { timeouts in
                timeouts.connect = .seconds(60)
                timeouts.idle = nil
                timeouts.total = .seconds(3600)
            }
            let found = try await contacts.findRecords(query: FindQuery(query: [["Name": "Ada"]]))
                .returnAs(Person.self).firstValue()
            #expect(!found.data.isEmpty)
            #expect(database.sessionStatus.isActive() && database.sessionStatus.expires != nil)
        }
    }

    @Test func globalsAndValueLists() async throws {
        try await withWorld { database, _ in
            let set: FMRest.EmptyResponse = try await database.withSessionPublisher { pinned in
                pinned.setGlobalFields(globalFields: ["Contacts::gFilter": "Kiel"])
            }.firstValue()
            expectNoDifference(set, FMRest.EmptyResponse())
            let metadata = try await database.addLayout(Layouts.Contacts).getLayoutMetadata().firstValue()
            let list = try #require(metadata.valueLists?.first { $0.name == "Statuses" })
            expectNoDifference(list.values.map(\.value), ["new", "active", "paused", "closed"])
            let status = try #require(metadata.fieldMetaData.first { $0.name == "Status" })
            #expect(status.valueList == "Statuses" && status.displayType == .popupMenu)
            #expect(
                !status.autoEnter && !status.fourDigitYear && !status.notEmpty && !status.numeric && !status.timeOfDay
            )
            #expect(status.maxCharacters == 0 && status.repetitions == 1)
        }
    }

    @Test func scriptsInFolders() async throws {
        try await withWorld { database, _ in
            for item in try await database.getScriptNames().firstValue() {
                switch item {
                case .script(let name): #expect(!name.isEmpty)
                case .folder(let name, let scripts): #expect(name == "Contacts" && scripts.count == 3)
                }
            }
        }
    }

    @Test("13: a program outside makes a ScriptQuery, and the results of all phases come back")
    func scriptResultsOfAllPhases() async throws {
        try await withWorld { database, _ in
            let countries = database.addLayout(Layouts.Countries)
            let script = ScriptQuery(
                script: "Echo",
                scriptParam: "after",
                scriptPreSort: "Echo",
                scriptPreSortParam: "between",
                scriptPreRequest: "Echo",
                scriptPreRequestParam: "before"
            )
            let response = try await countries.getRecords(recordQuery: RecordQuery(script: script, limit: 1))
                .returnAs(Country.self).firstValue()
            expectNoDifference(
                response.scriptResponse,
                DataAPI.ScriptResponse(
                    scriptResult: "after",
                    scriptError: "0",
                    scriptResultPreRequest: "before",
                    scriptErrorPreRequest: "0",
                    scriptResultPreSort: "between",
                    scriptErrorPreSort: "0",
                    scriptName: "Echo",
                    scriptNamePreRequest: "Echo",
                    scriptNamePreSort: "Echo"
                )
            )
            let run = try await countries.executeScript(script: "Echo", scriptParam: "a&b=c#d+e%f é").firstValue()
            #expect(run.scriptResult == "a&b=c#d+e%f é" && run.scriptError == "0")
            _ = try await countries.executeScript(script: "Echo").firstValue()
        }
    }

    @Test func uploads() async throws {
        try await withWorld { database, _ in
            let contacts = database.addLayout(Layouts.Contacts)
            let created = try await contacts.createRecord().firstValue()
            let file = ContainerFile(fileName: "FileName", mimeType: "image/jpg", data: Data([0xFF, 0xD8, 0xFF, 0xE0]))
            let _: FMRest.EmptyResponse = try await contacts.uploadToContainerField(
                fieldName: "Photo",
                recordId: created.recordId,
                file: file
            ).firstValue()
            let stale = await contacts.uploadToContainerField(
                fieldName: "Photo",
                recordId: created.recordId,
                repetition: 1,
                modId: 99,
                file: file
            ).awaitSingleResult()
            guard case .failure(let error) = stale else { return #expect(Bool(false), "the modId is really sent") }
            #expect(error.fileMakerCode == .modIdMismatch)
        }
    }

    @Test func asyncBridgeGivesAResult() async throws {
        try await withWorld { database, _ in
            let result = await database.addLayout("Nowhere").getRecords().returnAs(Country.self).awaitSingleResult()
            guard case .failure(let error) = result else { return #expect(Bool(false), "the layout does not exist") }
            #expect(error.fileMakerCode == .layoutMissing)
            var names: [String] = []
            for try await response in database.addLayout(Layouts.Countries).getRecords().returnAs(Country.self).values {
                names += response.data.map(\.fieldData.name)
            }
            #expect(names.count == 100)
        }
    }

    @Test func aLoginBeforeTheFirstRequest() async throws {
        try await withWorld { database, sandbox in
            let token: Credentials = try await database.login().firstValue()
            #expect(token.kind == .token && sandbox.counters.logins == 1)
        }
    }

    // MARK: Errors

    /// How a program distinguishes the errors that an awaited call throws.
    @Test func whatAnAwaitedCallThrows() async throws {
        func caught(_ call: () async throws -> Void) async -> String {
            do {
                try await call()
                return "nothing"
            } catch is CancellationError {
                return "cancelled"
            } catch FileMakerErrorCode.layoutMissing {
                return "no layout"
            } catch FMRest.APIError.Code.invalidRequest {
                return "no host"
            } catch let error as FMRest.APIError {
                return error.transportError.map { "\($0.code)" } ?? "\(error)"
            } catch {
                return "another type"
            }
        }
        try await withWorld { database, _ in
            let nowhere = database.addLayout("Nowhere").getRecords().returnAs(Country.self)
            let layout = await caught { _ = try await nowhere.firstValue() }
            let loop = await caught { for try await _ in nowhere.values {} }
            let host = await caught { _ = try await DataAPI.Server(host: "a b").getProductInfo().firstValue() }
            let closed = try ClosedPort()
            let away = await caught {
                _ = try await DataAPI.Server(host: "http://127.0.0.1:\(closed.port)").getProductInfo().firstValue()
            }
            #expect([layout, loop, host, away] == ["no layout", "no layout", "no host", "connectionRefused"])
            let task = Task { await caught { _ = try await database.getScriptNames().firstValue() } }
            task.cancel()
            #expect(await task.value == "cancelled")
        }
    }

    @Test func theErrorOfTheConnectionHasATypeWithAName() {
        let below = DataAPI.TransportError(code: .connectionClosed, outcome: .unknown)
        let error = FMRest.APIError(.network, reason: "gone", underlying: below)
        #expect((error.underlying as? DataAPI.TransportError)?.outcome == .unknown)
        #expect(error.transportError?.code == .connectionClosed && error.transportError?.origin?.host == nil)
    }
}
