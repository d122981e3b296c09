import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// The kind of a call that its documentation names, compared with what its publisher does.
@Suite(.timeLimit(.minutes(15))) struct CallKindTests {
    enum Kind: String, CaseIterable {
        case one = "One value"
        case many = "Many values, as they are asked for"
        case endless = "Values until it is cancelled"
        /// A session is lent to a publisher of the program's.
        case work = "As many values as the work publishes"
    }

    // MARK: What the documentation says

    /// The declarations whose documentation names a kind, as "kind: name".
    private static func documented() throws -> Set<String> {
        let folder = Committed.root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
            .filter { $0.hasPrefix("FMData") }
        var found: Set<String> = []
        for file in files where file.hasSuffix(".swift") {
            var kind: Substring?
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            guard text.contains("See <doc:Calls>") else { continue }
            for line in text.split(separator: "\n") {
                if let note = line.firstMatch(of: /\/\/\/ - Note: (.*)\. See <doc:Calls>/) {
                    kind = note.1
                } else if let named = kind, !line.contains("///"),
                    let name = line.firstMatch(of: /(?:func|var|struct) `?([A-Za-z]+)/)
                {
                    found.insert("\(named): \(name.1)")
                    kind = nil
                }
            }
        }
        return found
    }

    @Test(.thorough) func everyKindThatIsDocumentedIsMeasured() throws {
        let documented = try Self.documented()
        #expect(documented.count > 60)
        expectNoDifference(
            documented.sorted(),
            Set(Sample.all.flatMap { sample in sample.names.map { "\(sample.kind.rawValue): \($0)" } }).sorted()
        )
    }

    // MARK: What the publishers do

    @Test(.thorough, arguments: Sample.all.filter { $0.kind == .one })
    func aCallOfOneValueHasOneAndEnds(_ sample: Sample) async throws {
        try await measured(sample) { counted in
            counted.request(.max(1))
            await Self.expectEnd(of: counted)
            expectNoDifference(counted.values.count, 1)
        }
    }

    @Test(.thorough, arguments: Sample.all.filter { $0.kind == .many })
    func aCallOfManyValuesHasOneForEachThatIsAskedForAndEnds(_ sample: Sample) async throws {
        try await measured(sample) { counted in
            counted.request(.max(1))
            await counted.wait { $0.count > 1 }
            expectNoDifference(counted.values.count, 1)
            #expect(counted.completionIfAny == nil)
            counted.request(.unlimited)
            await Self.expectEnd(of: counted)
            #expect(counted.values.count > 1)
        }
    }

    @Test(arguments: Sample.all.filter { $0.kind == .endless })
    func aCallWithoutEndGoesOn(_ sample: Sample) async throws {
        try await measured(sample) { counted in
            counted.request(.unlimited)
            await counted.wait { $0.count > 1 }
            #expect(counted.completionIfAny == nil)
            counted.cancel()
        }
    }

    @Test(arguments: Sample.all.filter { $0.kind == .work })
    func aLentSessionPublishesWhatTheWorkDoes(_ sample: Sample) async throws {
        try await measured(sample) { counted in
            counted.request(.unlimited)
            await Self.expectEnd(of: counted)
            expectNoDifference(counted.values, ["1", "2", "3"])
        }
    }

    // MARK: Where their values arrive

    /// The samples belong to no actor.
    @Test(.thorough, arguments: Sample.all)
    func aSubscriptionOnTheMainActorDeliversThere(_ sample: Sample) async throws {
        let isMain = Locked<Set<Bool>>([])
        let counted = Counted(onEvent: { _ in isMain.change { $0.insert(MainQueue.isCurrent) } })
        try await hosted(sample) { database in
            await MainActor.run { sample.call(database).subscribe(counted) }
            if sample.kind == .endless {
                await counted.wait { $0.count > 1 }
                counted.cancel()
            } else {
                await Self.expectEnd(of: counted)
            }
        }
        expectNoDifference(isMain.value, [true])
    }

    typealias Counted = TrackingSubscriber<String, FMRest.APIError>

    private static func expectEnd(of counted: Counted) async {
        if case .failure(let error) = await counted.completion() { Issue.record("\(error)") }
    }

    private func measured(_ sample: Sample, _ body: (Counted) async throws -> Void) async throws {
        try await hosted(sample) { database in
            let counted = Counted(initialDemand: .none)
            sample.call(database).subscribe(counted)
            try await body(counted)
        }
    }

    private func hosted(_ sample: Sample, _ body: (DataAPI.Database) async throws -> Void) async throws {
        var solution = Solution.sample
        solution.addJobs()
        let credentials = Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
        try await Hosted.run(solution, credentials: credentials) { database, _ in
            try await sample.prepare(database)
            try await body(database)
        }
    }
}

extension CallKindTests {
    /// A call of a kind, and all declarations that it stands for: overloads and shorthands lead to the same publisher.
    struct Sample: CustomTestStringConvertible, Sendable {
        let kind: Kind
        let names: [String]
        /// What is done before the call is measured.
        let prepare: @Sendable (DataAPI.Database) async throws -> Void
        let call: @Sendable (DataAPI.Database) -> AnyPublisher<String, FMRest.APIError>

        var testDescription: String { names.joined(separator: ", ") }

        init<Call: Publisher & SendableMetatype>(
            _ kind: Kind,
            _ names: String...,
            after prepare: @escaping @Sendable (DataAPI.Database) async throws -> Void = { _ in },
            call: @escaping @Sendable (DataAPI.Database) -> Call
        ) where Call.Failure == FMRest.APIError {
            self.kind = kind
            self.names = names
            self.prepare = prepare
            self.call = { call($0).map { "\($0)" }.eraseToAnyPublisher() }
        }

        /// A call that never fails.
        init<Call: Publisher & SendableMetatype>(
            _ kind: Kind,
            _ names: String...,
            call: @escaping @Sendable (DataAPI.Database) -> Call
        ) where Call.Failure == Never {
            self.kind = kind
            self.names = names
            prepare = { _ in }
            self.call = {
                call($0).map { "\($0)" }.setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
        }
    }

    fileprivate struct Person: LayoutRecord {
        static let layout = "Contacts"
        var name = ""
        var photo: DataAPI.ContainerReference?

        enum CodingKeys: String, CodingKey { case name = "Name", photo = "Photo" }

        struct Portals: Codable, Sendable {
            var phones: [Phone]
            enum CodingKeys: String, CodingKey { case phones = "Phones" }
        }

        struct Phone: Codable, Sendable, DataAPIPortalRecord {
            var recordId: String?
            var modId: String?
            var number: String
            enum CodingKeys: String, CodingKey { case recordId, modId, number = "Phones::Number" }
        }
    }

    fileprivate struct Zone: LayoutRecord {
        static let layout = "Zones"
        var name: String
        var country: String
        enum CodingKeys: String, CodingKey, CaseIterable { case name = "Name", country = "CountryCode" }
    }

    fileprivate struct Country: LayoutRecord {
        static let layout = "Countries"
        var code: String
        enum CodingKeys: String, CodingKey { case code = "Code" }
    }
}

extension DataAPI.Database {
    fileprivate var contacts: DataAPI.Layout { addLayout("Contacts") }
    fileprivate var people: DataAPI.TypedLayout<PlainContact> { layout(PlainContact.self) }
}

// MARK: The samples

extension CallKindTests.Sample {
    private typealias People = DataAPI.TypedLayout<PlainContact>
    private typealias Write = DataAPI.RecordWrite<PlainContact>

    static let all: [Self] = ofServers + ofLayouts + ofTypedLayouts + ofContainers + ofMany + withoutEnd

    private static let ofServers: [Self] = [
        Self(.one, "getProductInfo") { $0.server.getProductInfo() },
        Self(.one, "getDatabaseNames") { $0.server.getDatabaseNames(credentials: $0.credentials) },
        Self(.one, "getOAuthProviders") { $0.server.getOAuthProviders() },
        Self(.one, "startOAuth") { database in
            database.server.getOAuthProviders().flatMap { providers in
                database.server.startOAuth(provider: providers[0].name, returnURL: "https://app.example/back")
            }
        },
        Self(.one, "shutdown") { $0.server.shutdown() },
        Self(.one, "login") { $0.login() },
        Self(.one, "logOut") { $0.logOut() },
        Self(.one, "validateSession") { $0.validateSession() },
        Self(.one, "ping") { $0.ping() },
        Self(.one, "probe") { $0.probe() },
        Self(.one, "getLayoutNames", "layoutNames") { $0.getLayoutNames() },
        Self(.one, "getScriptNames", "scriptNames") { $0.getScriptNames() },
        Self(.one, "rawAnswer") { $0.rawAnswer(to: DataAPI.RawRequest("GET", ["scripts"])) },
        Self(.one, "setGlobals", "setGlobalFields") { $0.setGlobals(["Contacts::gFilter": "a"]) },
        Self(.work, "withSessionPublisher") { database -> AnyPublisher<Int, FMRest.APIError> in
            database.withSessionPublisher { _ -> AnyPublisher<Int, FMRest.APIError> in
                [1, 2, 3].publisher.setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
        },
    ]

    private static let ofLayouts: [Self] = [
        Self(.one, "getLayoutMetadata") { $0.contacts.getLayoutMetadata() },
        Self(.one, "createRecord") { $0.contacts.createRecord(["Name": "Zoe"]) },
        Self(.one, "editRecord") { $0.contacts.editRecord(record: EditRecord(editRecord: FieldData()), recordId: 1) },
        Self(.one, "duplicateRecord") { $0.contacts.duplicateRecord(recordId: 2) },
        Self(.one, "deleteRecord") { $0.contacts.deleteRecord(recordId: 2) },
        Self(.one, "runScript", "executeScript") { $0.contacts.runScript("Echo", parameter: "a") },
        Self(.one, "getRecords") { $0.contacts.getRecords().returnAs(FieldData.self) },
        Self(.one, "record", "getRecordById") { $0.contacts.record(id: 1).returnAs(FieldData.self) },
        Self(.one, "findRecords") {
            $0.contacts.findRecords(query: FindQuery(query: [["Name": "*"]])).returnAs(FieldData.self)
        },
        Self(.many, "records") { $0.contacts.records(FieldData.self) },
    ]

    private static let ofTypedLayouts: [Self] = [
        Self(.one, "create") { $0.people.create([.name: "Zoe"]) },
        Self(.one, "edit") { $0.people.edit(1, setting: [.city: "Oslo"]) },
        Self(.one, "update") { $0.people.update(1) { $0.city = "Oslo" } },
        Self(.one, "upsert") { $0.people.upsert([.name: "Zoe"], by: .name) },
        Self(.one, "duplicate") { $0.people.duplicate(2) },
        Self(.one, "delete") { $0.people.delete(2) },
        Self(.one, "record") { $0.people.record(id: 1) },
        Self(.one, "recordResponse") { $0.people.recordResponse(id: 1, DataAPI.ReadOptions()) },
        Self(.one, "save") { database in
            database.people.record(id: 1).flatMap { record in
                var draft = record.draft()
                draft.city = "Oslo"
                return database.people.save(draft)
            }
        },
        Self(.one, "count", "exists") { $0.people.count() },
        Self(.one, "firstRecord") { $0.people.firstRecord() },
        Self(.one, "one") { $0.people.find { $0(.name) == "Ada Lovelace" }.one() },
        Self(.one, "page") { $0.people.page(limit: 2) },
    ]

    private static let ofContainers: [Self] = [
        Self(.one, "upload", "uploadContainer", "uploadToContainerField") {
            $0.contacts.uploadContainer(file, to: "Photo", recordId: 1)
        },
        Self(.one, "toMemory", after: upload) {
            $0.contacts.downloadContainer(fieldName: "Photo", recordId: 1).toMemory()
        },
        Self(.one, "toFile", after: upload) {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt").path
            return $0.contacts.downloadContainer(fieldName: "Photo", recordId: 1).toFile(at: path)
                .handleEvents(receiveCompletion: { _ in try? FileManager.default.removeItem(atPath: path) })
        },
        Self(.many, "ContainerDownload", "download", "downloadContainer", after: upload) {
            $0.contacts.downloadContainer(fieldName: "Photo", recordId: 1)
        },
        Self(.many, "parts", after: upload) {
            $0.contacts.downloadContainer(fieldName: "Photo", recordId: 1).parts
        },
        Self(.many, "containers", after: upload) { $0.layout(CallKindTests.Person.self).containers(.photo) },
    ]

    private static let ofMany: [Self] = [
        Self(.many, "RecordPages", "all") { $0.people.all() },
        Self(.many, "pages") { $0.people.all(pageSize: 1).pages },
        Self(.many, "rows") {
            $0.layout(CallKindTests.Person.self)
                .rows(\.phones, of: 1, portal: CallKindTests.Person.Portals.CodingKeys.phones)
        },
        Self(.many, "joining", "joiningOne") {
            $0.layout(CallKindTests.Country.self).all()
                .joining($0.layout(CallKindTests.Zone.self), on: \.fieldData.code, equals: .country, inGroupsOf: 1)
        },
        Self(.many, "Batch", "writing") { $0.people.writing(names.map(Write.create)) },
        Self(.many, "writing") {
            let script = DataAPI.CommitScript("Run Job", in: $0.addLayout("Jobs"))
            return $0.people.writing(names.map(Write.create), committing: script)
        },
        Self(.many, "editAll") { $0.people.allRecords.editAll(setting: [.city: "Oslo"], .atMost(1_000)) },
        Self(.many, "deleteAll") { $0.people.allRecords.deleteAll(.atMost(1_000)) },
        Self(.one, "summary") { $0.people.writing(names.map(Write.create)).summary },
        Self(.many, "progress") { $0.people.writing(names.map(Write.create)).progress },
    ]

    private static let withoutEnd: [Self] = [
        Self(.endless, "LiveQuery", "live") { $0.people.live() },
        Self(.endless, "observe") { $0.people.observe(1) },
        Self(.endless, "LiveChanges") { $0.people.changes() },
        Self(.endless, "CopyChanges", "changes") {
            $0.people.changes(keptBy: DataAPI.CopyKeeper(mark: { $0(.success(nil)) }, versions: { $2(.success([])) }))
        },
        Self(.endless, "status") { $0.status },
        Self(.endless, "projectedValue") { $0.$credentials },
    ]

    private static let names = ["Zoe", "Yan", "Xenia"].map { PlainContact(name: $0) }

    /// So large that it comes in several parts.
    private static let file = FMRest.ContainerFile(fileName: "a.txt", data: Data(repeating: 0x61, count: 1 << 20))

    private static let upload: @Sendable (DataAPI.Database) async throws -> Void = { database in
        for record in 1...2 {
            _ = try await database.contacts.uploadContainer(file, to: "Photo", recordId: record).firstValue()
        }
    }
}
