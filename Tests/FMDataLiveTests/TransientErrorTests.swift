import CustomDump
import FMData
import Testing

@testable import FMDataCore
@testable import FMDataLive
@testable import FMDataRecords

/// One table says which errors are temporary, and everything that waits and retries uses it.
@Suite struct TransientErrorTests {
    private static let codes = (0...20_000).map(FileMakerErrorCode.init(rawValue:)).filter { $0.passing != nil }

    @Test func theTable() {
        expectNoDifference(
            Self.codes.map(\.rawValue),
            [13, 16, 112, 300, 301, 302, 303, 304, 307, 308, 310, 802, 812, 870, 956, 1638, 1701]
        )
    }

    @Test(arguments: codes) func whatPassesIsWaitedForByAll(code: FileMakerErrorCode) {
        let error = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: code)
        #expect([BatchTrouble.passing, .busy].contains(BatchTrouble(error)))
        #expect(BatchTrouble(error).mayPass)
        expectNoDifference(SaveStateMachine.WriteFailure(error, runsScript: false), .passing)
        expectNoDifference(PollerStateMachine.Failure(error), .passing)
        #expect(error.isRetryable)
    }
}
