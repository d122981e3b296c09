import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// Parts of found sets, single records, and scripts, all in the typed layer.
@Suite(.timeLimit(.minutes(15))) struct TypedReadTests {
    private struct Person: LayoutRecord, Equatable {
        static let layout = "Contacts"
        var name: String
        var city: String?
        var balance: FMNumber?

        enum CodingKeys: String, CodingKey {
            case name = "Name"
            case city = "City"
            case balance = "Balance"
        }
    }

    private struct Number: LayoutRecord, Equatable {
        static let layout = "Countries"
        var code: String
        enum CodingKeys: String, CodingKey { case code = "Code" }
    }

    private func people(_ world: World) -> DataAPI.TypedLayout<Person> { world.database.layout(Person.self) }

    // MARK: Pages

    @Test func aPageHasItsPartAndTheCountsOfAll() async throws {
        try await World.run { world in
            let countries = world.database.layout(Number.self)
            let page = try await countries.sorted(by: .code).page(offset: 41, limit: 2).firstValue()
            let all = try await countries.sorted(by: .code).all().collect().firstValue().map(\.fieldData)
            expectNoDifference(page.data.map(\.fieldData), Array(all[40..<42]))
            expectNoDifference(
                page.dataInfo,
                DataAPI.DataInfo(
                    database: "World",
                    layout: "Countries",
                    table: "Country",
                    totalRecordCount: all.count,
                    foundCount: all.count,
                    returnedCount: 2
                )
            )
        }
    }

    @Test func aPageOfAFindCountsWhatIsFound() async throws {
        try await World.run { world in
            let page = try await people(world).find { $0(.balance) > 0 }.page(limit: 1).firstValue()
            expectNoDifference(page.data.count, 1)
            expectNoDifference([page.dataInfo.foundCount, page.dataInfo.totalRecordCount], [2, 3])
        }
    }

    @Test func aPageBehindTheLastRecordIsEmptyAndSaysThatNothingIsReported() async throws {
        try await World.run { world in
            let behind = try await people(world).page(offset: 4, limit: 10).firstValue()
            let unfound = try await people(world).find { $0(.name) == "Nobody" }.page().firstValue()
            for page in [behind, unfound] {
                expectNoDifference(page.data, [])
                expectNoDifference(page.dataInfo.isReported, false)
            }
        }
    }

    @Test(arguments: [(0, 10), (1, 0), (-3, 5)])
    func apartThatIsNoneIsRefusedAndNothingIsSent(offset: Int, limit: Int) async throws {
        try await World.run { world in
            let page = await people(world).page(offset: offset, limit: limit).awaitSingleResult()
            expectNoDifference(page.failure?.code, .invalidRequest)
            expectNoDifference(world.sandbox.counters.requests[.getRecords], nil)
        }
    }

    // MARK: One record

    @Test func theOnlyRecordComes() async throws {
        try await World.run { world in
            let ada = try await people(world).find { $0(.name) == "Ada Lovelace" }.one().firstValue()
            expectNoDifference(ada.fieldData.city, "London")
        }
    }

    @Test func noneAndSeveralAreToldApart() async throws {
        try await World.run { world in
            let none = await people(world).find { $0(.name) == "Nobody" }.one().awaitSingleResult().failure
            expectNoDifference(none?.fileMakerCode, .noRecordsMatch)
            expectNoDifference(none?.reason, "One record was wanted, and there is none.")
            let several = await people(world).one().awaitSingleResult().failure
            expectNoDifference(several?.code, .countDiffers)
            expectNoDifference(several?.reason, "One record was wanted, and there are 3.")
            // The error can be replaced like that of any find without matches.
            let rescued = try await people(world).find { $0(.name) == "Nobody" }.one().map(Optional.some)
                .replaceError(of: .noRecordsMatch, with: nil)
                .firstValue()
            expectNoDifference(rescued, nil)
        }
    }

    @Test func aServerThatCountsNothingSaysThatThereAreSeveral() async throws {
        try await World.run(sandbox: { $0.serverVersion = .v17 }) { world in
            let several = await people(world).one().awaitSingleResult().failure
            expectNoDifference(several?.reason, "One record was wanted, and there are several.")
        }
    }

    // MARK: Scripts

    private static let scripts = ScriptQuery(
        script: "Echo",
        scriptParam: "after",
        scriptPreSort: "Echo",
        scriptPreSortParam: "sort",
        scriptPreRequest: "Echo",
        scriptPreRequestParam: "before"
    )

    @Test func scriptsOfAllPhasesRunWithARead() async throws {
        try await World.run { world in
            let found = people(world).find { $0(.balance) > 0 }.scripts(Self.scripts)
            let page = try await found.page(limit: 1).firstValue()
            expectNoDifference(page.scriptResponse?.scriptResult, "after")
            expectNoDifference(page.scriptResponse?.scriptResultPreSort, "sort")
            expectNoDifference(page.scriptResponse?.scriptResultPreRequest, "before")
            let one = try await people(world).recordResponse(id: 1, ReadOptions(script: Self.scripts)).firstValue()
            expectNoDifference(one.data.map(\.fieldData.name), ["Ada Lovelace"])
            expectNoDifference(one.scriptResponse?.scriptResultPreRequest, "before")
        }
    }

    @Test func scriptsRunWithEachPageAndNotWithACount() async throws {
        let none = #"{"data":[]}"#
        try await ScriptedHost.run(answer: { _ in .json(none) }) { host in
            let found = host.database.layout(Person.self).find { $0(.name) == "Ada" }.scripts(
                ScriptQuery(script: "Echo")
            )
            _ = await found.count().awaitSingleResult()
            _ = try await found.exists().firstValue()
            _ = try await found.all().collect().firstValue()
            expectNoDifference(host.calls.map { $0.text.contains("Echo") }, [false, false, true])
        }
    }

    @Test func aFindOfMoreRequestsThanACallTakesIsRefused() async throws {
        try await World.run { world in
            let countries = world.database.layout(Number.self)
                .find { $0(.code).isOneOf((1...1_500).map { "\($0)" }) }
            let refused = await countries.count().awaitSingleResult().failure
            expectNoDifference(refused?.code, .invalidRequest)
            expectNoDifference((refused?.underlying as? DataAPI.FindError)?.code, .tooManyRequests)
            expectNoDifference(world.sandbox.counters.requests[.find], nil)
        }
    }

    // MARK: Options

    @Test func optionsAreMembersOfBothQueries() {
        var options = ReadOptions(layoutResponse: "Small", limit: 3)
        options.offset = 7
        var range = RecordQuery(options)
        var find = FindQuery(query: [["Name": "Ada"]], options)
        expectNoDifference([range.limit, find.limit, range.offset, find.offset], [3, 3, 7, 7])
        range.sortOrder = [SortQuery(fieldName: "Name")]
        find.sort = range.sortOrder
        range.script = Self.scripts
        find.script = Self.scripts
        expectNoDifference(range.options, find.options)
        expectNoDifference(range == RecordQuery(find.options), true)
    }
}
