import CustomDump
import FMData
import FMHTTP
import Foundation
import NIOCore
import Testing

@testable import FMDataCore

/// `Retry-After` as servers and proxies write it, and what errors say about it.
@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func wait(_ headers: HTTPHeaders) -> Duration? { headers.retryAfter(now: Self.now) }

    @Test func seconds() {
        expectNoDifference(wait(["Retry-After": "120"]), .seconds(120))
        expectNoDifference(wait(["retry-after": " 0 "]), .zero)
        expectNoDifference(wait([:]), nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:50:07 GMT", "Sunday, 06-Nov-94 08:50:07 GMT", "Sun Nov  6 08:50:07 1994",
    ])
    func anInstant(text: String) {
        expectNoDifference(wait(["Retry-After": text]), .seconds(30))
        // The server's clock is wrong, but its `Date` is what `Retry-After` refers to.
        expectNoDifference(wait(["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:50:00 GMT"]), .seconds(7))
        expectNoDifference(wait(["Retry-After": text, "Date": "Sun, 06 Nov 1994 09:50:00 GMT"]), .zero)
        expectNoDifference(wait(["Retry-After": text, "Date": "today"]), .seconds(30))
    }

    @Test(arguments: ["", " ", "soon", "-1", "1.5", "1e9", "+5", "٣"])
    func whatIsNeither(text: String) {
        expectNoDifference(wait(["Retry-After": text]), nil)
    }

    @Test(arguments: ["9223372036854775807", "99999999999999999999999999"])
    func anyNumberOfSecondsWillDo(text: String) {
        expectNoDifference(wait(["Retry-After": text]), .seconds(1_000_000_000))
    }

    @Test(arguments: [
        (429, "Too many", "text/plain", true), (503, "<html><title>Busy</title></html>", "text/html", true),
        (503, #"{"messages":[{"code":"812","message":"Full"}],"response":{}}"#, "application/json", true),
        (400, "No", "text/plain", false),
    ])
    func everyAnswerMayAskForIt(status: Int, body: String, contentType: String, isRetryable: Bool) throws {
        let answer = HTTPResponse(
            status: .init(statusCode: status),
            headers: ["Content-Type": contentType, "Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"],
            body: ByteBuffer(string: body)
        )
        let error = #expect(throws: FMRest.APIError.self) {
            try AnswerReader(wallClock: { Self.now }).read(FMRest.EmptyResponse.self, from: answer)
        }
        expectNoDifference(error?.retryAfter, .seconds(10))
        expectNoDifference(error?.isRetryable, isRetryable)
    }

    /// A rate limiter has not passed on a request that it answers with 429. The page of a gateway does not tell whether
    /// the request was passed on.
    @Test func aWriteThatWasTurnedAwayWasNotCarriedOut() {
        let request = FMRest.APIError.RequestSummary(method: "POST", origin: "https://fms.example.com", path: "/")
        for (status, isUnknown) in [(429, false), (401, false), (503, true), (200, true)] {
            let error = FMRest.APIError(.notDataAPI, reason: "A page", httpStatus: status)
                .about(request, isSafeToRepeat: false)
            expectNoDifference(error.outcomeIsUnknown, isUnknown, "\(status)")
            expectNoDifference(error.isRetryable, status == 429, "\(status)")
        }
    }
}
