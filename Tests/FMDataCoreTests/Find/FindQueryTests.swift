import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// A find that FileMaker cannot express makes the publisher fail, in a pipeline too.
@Suite(.timeLimit(.minutes(15))) struct FindQueryTests {
    /// `omit` is a keyword of the Data API, so it cannot be a field's name in a find.
    private let unspeakable = DataAPI.FindField(named: "omit") == "true"

    @Test func aFindThatCannotBeSaidFailsUnsent() async throws {
        let expected = #expect(throws: DataAPI.FindError.self) { try unspeakable.requests() }
        try await World.run { world in
            let found = world.contacts.findRecords(query: FindQuery(unspeakable))
                .returnAs(FieldData.self)
            let error = try #require(await found.outcome().failure)
            expectNoDifference(error.code, .invalidRequest)
            expectNoDifference(error.underlying as? DataAPI.FindError, expected)
            expectNoDifference(error.reason, expected?.description)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    @Test func inAPipelineItIsAFailureLikeAnyOther() async throws {
        try await World.run { world in
            let found = Just(unspeakable).setFailureType(to: FMRest.APIError.self)
                .map { FindQuery($0) }
                .flatMap { query in world.contacts.findRecords(query: query).returnAs(FieldData.self) }
            #expect(await found.outcome().failure?.code == .invalidRequest)
        }
    }
}
