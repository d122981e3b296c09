import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Layout metadata of all server versions, and the versions of the API.
@Suite(.timeLimit(.minutes(15))) struct MetadataTests {
    @Test func fileMaker17IsAskedTheOlderWayWithoutBeingTold() async throws {
        try await World.run(sandbox: { $0.serverVersion = .v17 }) { world in
            let metadata = try await world.contacts.getLayoutMetadata().firstValue()
            let status = try #require(metadata.fieldMetaData.first { $0.name == "Status" })
            expectNoDifference(status.result, .text)
            expectNoDifference(status.valueList, "Statuses")
            expectNoDifference(metadata.fieldMetaData.first { $0.name == "gFilter" }?.global, true)
            expectNoDifference(metadata.fieldMetaData.first { $0.name == "Nicknames" }?.maxRepeat, 3)
            expectNoDifference(metadata.portalMetaData, [:])
            expectNoDifference(world.sandbox.counters.requests[.oldMetadata], 1)
            let error = await world.contacts.editRecord(record: EditRecord(editRecord: ["Nmae": "b"]), recordId: 1)
                .awaitSingleResult().failure
            expectNoDifference(error?.fields, ["Nmae"])
        }
    }

    @Test func newerServersAreNeverAskedTheOlderWay() async throws {
        try await World.run { world in
            _ = try await world.contacts.getLayoutMetadata(recordId: 1).firstValue()
            let missing = await world.database.addLayout("Nowhere").getLayoutMetadata().awaitSingleResult().failure
            expectNoDifference(missing?.fileMakerCode, .layoutMissing)
            expectNoDifference(world.sandbox.counters.requests[.oldMetadata], nil)
        }
    }

    /// A dictionary keeps only one of the portals with the same name, and which one is not defined.
    @Test func portalsOfOneNameAreNamed() throws {
        let answer = #"""
            {"fieldMetaData": [], "portalMetaData": {"Phones": [], "Caf\u00e9": [], "Zones": [], "Phones": [], "Cafe\u0301": [],
            "Phones": []}}
            """#
        let metadata = try FMDecoder().decode(DataAPI.Layout.LayoutMetaData.self, from: Array(answer.utf8))
        expectNoDifference(metadata.ambiguousPortals, ["Phones", "Caf\u{E9}"])
        expectNoDifference(metadata.portalMetaData.keys.sorted(), ["Caf\u{E9}", "Phones", "Zones"])
    }

    @Test func valueListsOfRelatedValuesAreThoseOfTheRecordThatIsNamed() async throws {
        var solution = Solution.sample
        solution.accounts = []
        solution.valueLists.append(.init(name: "Its zones", field: "Zones::Name", relatedFrom: "Country"))
        solution.layouts = solution.layouts.map { item in
            guard case .layout(var layout) = item, layout.name == "Countries" else { return item }
            layout.fields[0].valueList = "Its zones"
            return .layout(layout)
        }
        try await Hosted.run(solution) { database, _ in
            let countries = database.addLayout("Countries")
            let found = try await countries.findRecords(query: FindQuery(query: [["Code": "==NZ"]]))
                .returnAs(FieldData.self).firstValue()
            let newZealand = try #require(found.data.first?.recordId)
            let ofNone = try await countries.getLayoutMetadata().firstValue()
            expectNoDifference(ofNone.valueLists?.first?.values, [])
            let ofOne = try await countries.getLayoutMetadata(recordId: newZealand).firstValue()
            expectNoDifference(
                ofOne.valueLists?.first?.values.map(\.value),
                ["Pacific/Auckland", "Pacific/Chatham"]
            )
        }
    }

    @Test(arguments: [[FaultServer.Step].response(404), .html(404), .error(1700, "None", status: 404)])
    func whereNeitherWayExistsTheFirstRefusalIsTheError(reply: [FaultServer.Step]) async throws {
        try await ScriptedHost.run(answer: { _ in reply }) { host in
            let error = await host.layout.getLayoutMetadata().awaitSingleResult().failure
            expectNoDifference(error?.httpStatus, 404)
            expectNoDifference(error?.request?.path, "/databases/Harbor/layouts/People")
            expectNoDifference(
                host.calls.map(\.target),
                ["", "/metadata"].map { "/fmi/data/vLatest/databases/Harbor/layouts/People" + $0 }
            )
        }
    }

    @Test func theOlderFormIsRead() async throws {
        let fields =
            #"[{"name":"Flag","type":"normal","result":"text","global":"false","valueList":"Flags","repetitions":2},"#
            + #"{"name":"gNow","type":"normal","result":"timeStamp","global":"true","id":7}]"#
        try await ScriptedHost.run(answer: { request in
            request.target.hasSuffix("/metadata") ? .json(#"{"metaData":\#(fields)}"#) : .error(1700, status: 404)
        }) { host in
            let metadata = try await host.layout.getLayoutMetadata().firstValue()
            expectNoDifference(metadata.fieldMetaData.map(\.name), ["Flag", "gNow"])
            expectNoDifference(metadata.fieldMetaData.map(\.global), [false, true])
            expectNoDifference(metadata.fieldMetaData[0].maxRepeat, 2)
            expectNoDifference(metadata.valueLists, nil)
        }
    }

    // MARK: Versions

    @Test(arguments: [DataAPI.APIVersion.v1, .v2, .latest])
    func everyVersionOfThePath(version: DataAPI.APIVersion) async throws {
        try await World.run(client: { $0.version = version }) { world in
            let one = try await world.countries.findRecords(query: FindQuery(query: [["Code": "==NZ"]]))
                .returnAs(FieldData.self).firstValue()
            expectNoDifference(one.data.count, 1)
        }
        try await ScriptedHost.run(client: { $0.version = version }) { host in
            _ = try await host.database.login(credentials: host.database.credentials).firstValue()
            _ = try await host.database.server.validateSession(credentials: Credentials(token: "T1")).firstValue()
            expectNoDifference(host.calls.map(\.target), ["/fmi/data/\(version.rawValue)/validateSession"])
        }
    }

    @Test func versionsDifferInThePortalRowsOfALayoutInTableView() async throws {
        var solution = Solution.sample
        solution.layouts = solution.layouts.map { item in
            guard case .layout(var layout) = item, layout.name == "Countries" else { return item }
            layout.view = .table
            return .layout(layout)
        }
        solution.accounts = []
        var counts: [DataAPI.APIVersion: Int] = [:]
        for version in [DataAPI.APIVersion.v1, .v2, .latest] {
            try await Hosted.run(solution, client: { $0.version = version }) { database, _ in
                let australia = try await database.addLayout("Countries")
                    .findRecords(query: FindQuery(query: [["Code": "==AU"]]))
                    .returnAs(FieldData.self, [String: [FieldData]].self).firstValue()
                counts[version] = australia.data.first?.portalData?["Zones"]?.count
            }
        }
        expectNoDifference(counts[.v1], 1)
        #expect(counts[.v2] ?? 0 > 5)
        expectNoDifference(counts[.latest], counts[.v2])
    }

    @Test(.tags(.earlierClients))
    func metadataOfANewerServerAreReadAndRepetitionsComeByTheServersOwnKeys() async throws {
        let field =
            #"{"name":"F","type":"quantum","displayType":"hologram","result":"vector","maxRepeat":5,"#
            + #""repetitionStart":2,"repetitionEnd":4,"future":{"a":[1]}}"#
        try await ScriptedHost.run(answer: { _ in .json(#"{"fieldMetaData":[\#(field)],"portalMetaData":{}}"#) }) {
            host in
            let metadata = try await host.layout.getLayoutMetadata().firstValue()
            let field = try #require(metadata.fieldMetaData.first)
            expectNoDifference(
                [field.type.rawValue, field.displayType?.rawValue, field.result.rawValue],
                ["quantum", "hologram", "vector"]
            )
            expectNoDifference([field.repetitionStart, field.repetitionEnd, field.repetitions], [2, 4, 3])
        }
    }

    /// Lists keep tables and belong to their database; the same list read twice is equal.
    @Test(.tags(.earlierClients))
    func listsKeepTablesAndBelongToTheirDatabase() async throws {
        try await World.run { world in
            let layouts = try await world.database.getLayoutNames().firstValue()
            let countries = try #require(layouts.flatMap(\.allLayouts).first { $0.name == "Countries" })
            expectNoDifference(countries.table, "Country")
            #expect(countries.database === world.database)
            let scripts = try await world.database.getScriptNames().firstValue()
            let again = try await world.database.getScriptNames().firstValue()
            expectNoDifference(scripts, again)
            #expect(
                scripts.contains(
                    .folder("Contacts", scripts: ["Keep Active", "Visit All", "Set Filter"].map { .script($0) })
                )
            )
        }
    }

    @Test(.tags(.earlierClients))
    func metadataTellOfPortalsAndFoldersNestToAnyDepth() async throws {
        let deep = (0..<20).reduce(#"[{"name":"L"}]"#) { list, depth in
            #"[{"name":"F\#(depth)","isFolder":true,"folderLayoutNames":\#(list)}]"#
        }
        try await ScriptedHost.run(answer: { _ in .json(#"{"layouts":\#(deep)}"#) }) { host in
            let layouts = try await host.database.getLayoutNames().firstValue()
            expectNoDifference(layouts.flatMap(\.allLayouts).map(\.name), ["L"])
        }
        try await World.run { world in
            let metadata = try await world.contacts.getLayoutMetadata().firstValue()
            expectNoDifference(metadata.portalMetaData["Phones"]?.map(\.name), ["Phones::Kind", "Phones::Number"])
        }
    }
}
