import FMTestSupport
import Foundation
import Testing

@testable import FMSandbox

@Suite struct ServerTraitsTests {
    private func solution(_ name: String, _ server: Solution.Server) -> Solution {
        Solution(name: name, server: server)
    }

    @Test func withoutAWordItIsTheNewestServer() throws {
        let traits = try ServerTraits(.init(), [.sample])
        #expect(traits.version == .v22)
        #expect(traits.findPastEnd == .noRecordsMatch)
        #expect(!traits.ignoresNameCase)
        #expect(!traits.newPortalRecordInfoOnCreate)
        #expect(traits.dataSourceWithoutAccount == .emptyValues)
        #expect(traits.isoTimestampSeparator == .letter)
        #expect(traits.isoCriterionDates == .usAndISO)
        #expect(traits.portalFieldNames == .qualified)
        #expect(traits.containerStreaming == .authenticated)
        #expect(traits.timeZone == .gmt)
        #expect(traits.sessionLifetime == .seconds(900))
        #expect(traits.keepAlive == .seconds(5))
        #expect(traits.compression)
    }

    @Test func theSolutionDecidesUnlessTheConfigurationDoes() throws {
        let server = Solution.Server(
            version: .v18,
            findPastEnd: .emptyPage,
            ignoresNameCase: true,
            newPortalRecordInfoOnCreate: true,
            dataSourceWithoutAccount: .invalidAccount,
            isoTimestampSeparator: .space,
            isoCriterionDates: .us,
            portalFieldNames: .plain
        )
        let solutions = [solution("A", .init()), solution("B", server), solution("C", .init(version: .v18))]
        let theirs = try ServerTraits(.init(), solutions)
        #expect(theirs.version == .v18)
        #expect(theirs.findPastEnd == .emptyPage)
        #expect(theirs.ignoresNameCase)
        #expect(theirs.newPortalRecordInfoOnCreate)
        #expect(theirs.dataSourceWithoutAccount == .invalidAccount)
        #expect(theirs.isoTimestampSeparator == .space)
        #expect(theirs.isoCriterionDates == .us)
        #expect(theirs.portalFieldNames == .plain)
        let ours = try ServerTraits(
            .init {
                $0.serverVersion = .v19
                $0.findPastEnd = .recordMissing
                $0.ignoresNameCase = false
                $0.newPortalRecordInfoOnCreate = false
                $0.dataSourceWithoutAccount = .fileNotOpened
                $0.isoTimestampSeparator = .letter
                $0.isoCriterionDates = .iso
                $0.portalFieldNames = .qualified
            },
            solutions
        )
        #expect(ours.version == .v19)
        #expect(ours.findPastEnd == .recordMissing)
        #expect(!ours.ignoresNameCase)
        #expect(!ours.newPortalRecordInfoOnCreate)
        #expect(ours.dataSourceWithoutAccount == .fileNotOpened)
        #expect(ours.isoTimestampSeparator == .letter)
        #expect(ours.isoCriterionDates == .iso)
        #expect(ours.portalFieldNames == .qualified)
    }

    @Test func solutionsThatDisagreeDoNotStart() throws {
        let solutions = [solution("A", .init(version: .v18)), solution("B", .init(version: .v19))]
        let error = #expect(throws: SolutionError.self) { try Engine(solutions, configuration: .init()) }
        #expect(error?.solution == "B")
        #expect(error?.path == "server.version")
        // The configuration overrides both.
        let configuration = Sandbox.Configuration { $0.serverVersion = .v22 }
        #expect(try Engine(solutions, configuration: configuration).version == .v22)
    }

    /// With `ignoresNameCase`, names that differ only in case are the same.
    @Test func namesThatFallTogetherDoNotStart() throws {
        let solution = Solution.oneTable([.init("Name"), .init("NAME")])
        #expect(throws: Never.self) { try ModelBuilder.build([solution]) }
        let configuration = Sandbox.Configuration { $0.ignoresNameCase = true }
        let error = #expect(throws: SolutionError.self) { try Engine([solution], configuration: configuration) }
        #expect(error?.path == "tables[0].fields[1].name")
    }
}
