import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import OpenCombine
import Testing

@testable import FMDataCore

/// Paths, names and options of calls, as they are sent.
@Suite(.timeLimit(.minutes(15))) struct RequestWireTests {
    @Test(.tags(.fact)) func aSlashInALayoutIsEncoded() async throws {
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

    @Test(.tags(.fact)) func aGETHasUnderscoresAndAFindHasNone() async throws {
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

    @Test(.tags(.earlierClients))
    func aQueryAndABodyAreBothSent() async throws {
        try await ScriptedHost.run { host in
            let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("content".utf8))
            _ = try await host.layout.uploadContainer(file, to: "Photo", recordId: 17, modId: 5).firstValue()
            expectNoDifference(host.calls.last?.target.hasSuffix("/containers/Photo/1?modId=5"), true)
            expectNoDifference(host.calls.last?.text.contains("content"), true)
        }
    }

    @Test(.tags(.earlierClients))
    func namesAreEncodedOneByOneAndWhatCannotBeANameIsATypedError() async throws {
        try await ScriptedHost.run { host in
            _ = try await host.database.addLayout("A/B + 50 % ?#é").runScript("a/b&c").firstValue()
            expectNoDifference(
                host.calls.last?.target,
                "/fmi/data/vLatest/databases/Harbor/layouts/A%2FB%20%2B%2050%20%25%20%3F%23%C3%A9/script/a%2Fb%26c"
            )
            for name in ["", ".", ".."] {
                let error = await host.database.addLayout(name).runScript("S").awaitSingleResult()
                    .failure
                expectNoDifference(error?.code, .invalidRequest)
            }
            expectNoDifference(host.calls.count, 1)
        }
    }

    @Test(.tags(.earlierClients))
    func blanksInNamesAndSignsInParametersArriveAsTheyAre() async throws {
        try await World.run { world in
            for text in ["a&b=c+d", "100 % + é", "?x#y", "a;b,c", "\"{[]}\"", " "] {
                let echo = try await world.countries.runScript("Echo", parameter: .text(text)).firstValue()
                expectNoDifference(echo.scriptResult, text)
            }
            let count = try await world.countries.runScript("Count Found").firstValue()
            expectNoDifference(count.scriptResult, "249")
        }
    }

    @Test(.tags(.earlierClients))
    func aLayoutWithASlashAPercentSignAndAnUmlautIsReached() async throws {
        try await World.run { world in
            let response = try await world.database.addLayout("Names / 100 % Übersicht").getRecords()
                .returnAs(Contact.self).firstValue()
            expectNoDifference(response.data.first?.fieldData.name, "Ada Lovelace")
        }
    }

    @Test(.tags(.earlierClients))
    func aSingleRecordAndADeleteKeepTheirOptions() async throws {
        try await ScriptedHost.run(answer: { _ in .json(#"{"data":[]}"#) }) { host in
            let script = ScriptQuery(script: "S", scriptParam: "p")
            _ = try await host.layout.record(
                id: 1,
                query: RecordQuery(
                    script: script,
                    layoutResponse: "Other",
                    portal: [PortalRequest(name: "P", limit: 1)]
                )
            ).returnAs(FieldData.self).firstValue()
            _ = try await host.layout.deleteRecord(recordId: 1, scriptQuery: script).firstValue()
            let records = "/fmi/data/vLatest/databases/Harbor/layouts/People/records/1"
            expectNoDifference(
                host.calls.map(\.target),
                [
                    "\(records)?portal=%5B%22P%22%5D&_limit.P=1&layout.response=Other&script=S&script.param=p",
                    "\(records)?script=S&script.param=p",
                ]
            )
        }
    }

    @Test(.tags(.earlierClients))
    func aCallThatFailedLeavesNothingBehindForTheNext() async throws {
        try await ScriptedHost.run(answer: { call in
            call.number == 0 ? .error(960, status: 400) : .json(#"{"recordId":"1","modId":"0"}"#)
        }) { host in
            _ = await host.layout.createRecord().awaitSingleResult()
            _ = try await host.layout.createRecord().firstValue()
            expectNoDifference(
                host.calls.map { $0.header("Content-Type") },
                ["application/json", "application/json"]
            )
        }
    }
}
