import CustomDump
import FMData
import FMHTTP
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// What each kind of error means for a row.
@Suite struct BatchTroubleTests {
    @Test(arguments: [
        (301, BatchTrouble.passing), (13, .passing), (307, .passing), (1701, .passing), (802, .passing),
        (112, .passing), (952, .passing),
        (812, .busy), (956, .busy), (953, .busy), (1638, .busy),
        (101, .recordMissing), (306, .modIdMismatch), (504, .notUnique), (102, .fieldMissing),
        (201, .refused), (500, .refused), (511, .refused), (1708, .refused),
        (105, .hopeless), (212, .hopeless), (214, .hopeless),
    ])
    func codes(code: Int, trouble: BatchTrouble) {
        let error = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: FileMakerErrorCode(rawValue: code))
        expectNoDifference(BatchTrouble(error), trouble)
    }

    @Test(arguments: [
        (FMRest.APIError.Code.timeout, BatchTrouble.busy), (.network, .passing), (.tokensRefused, .passing),
        (.unauthorized, .hopeless), (.shutdown, .hopeless), (.sessionLost, .hopeless), (.tls, .hopeless),
        (.encoding, .refused), (.invalidRequest, .refused), (.notDataAPI, .garbled), (.decoding, .garbled),
    ])
    func kinds(code: FMRest.APIError.Code, trouble: BatchTrouble) {
        expectNoDifference(BatchTrouble(FMRest.APIError(code, reason: "")), trouble)
    }

    @Test(arguments: [
        (HTTPClientError.Code.malformedResponse, BatchTrouble.garbled), (.decompressionFailed, .garbled),
        (.connectionClosed, .passing), (.proxyAuthenticationRequired, .refused),
    ])
    func whatTheHTTPClientHasMet(code: HTTPClientError.Code, trouble: BatchTrouble) {
        // The error of a login, whose outcome is not that of the write.
        let login = FMRest.APIError.RequestSummary(method: "POST", origin: "h", path: "/")
        let error = FMRest.APIError(HTTPClientError(code: code, outcome: .answered))
        expectNoDifference(BatchTrouble(error.about(login, isSafeToRepeat: true)), trouble)
    }

    @Test func aLostAnswerIsThatBeforeAllElse() {
        let lost = FMRest.APIError(.timeout, reason: "", outcomeIsUnknown: true)
        expectNoDifference(BatchTrouble(lost), .outcomeUnknown(isTimeout: true))
        let page = FMRest.APIError(.notDataAPI, reason: "", httpStatus: 502, outcomeIsUnknown: true)
        expectNoDifference(BatchTrouble(page), .outcomeUnknown(isTimeout: false))
    }
}
