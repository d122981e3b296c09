import CustomDump
import FMData
import FMHTTP
import Testing

@testable import FMDataCore

@Suite struct ContainerVersionTests {
    private static func head(_ status: HTTPResponseStatus = .ok, _ headers: HTTPHeaders) -> HTTPResponseHead {
        HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }

    private static let noon = "Sun, 06 Nov 1994 12:00:00 GMT"

    @Test(
        arguments: [
            (["ETag": "\"a\""], "\"a\""),
            (["ETag": "\"\""], "\"\""),
            (["ETag": "\"a\"", "Accept-Ranges": "bytes"], "\"a\""),
            (["ETag": "\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": noon], "\"a\""),
            (
                ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": noon],
                "Sun, 06 Nov 1994 08:49:37 GMT"
            ),
            // Without a strong validator, versions cannot be told apart.
            ([:], nil),
            (["ETag": "W/\"a\""], nil),
            (["ETag": "a"], nil),
            (["ETag": "\""], nil),
            (["ETag": "W/\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": noon], nil),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
            (["Last-Modified": "Sun, 06 Nov 1994 11:59:30 GMT", "Date": noon], nil),
            (["Last-Modified": "yesterday", "Date": noon], nil),
            // The server refuses ranges, or the bytes sent are an encoded form of the content.
            (["ETag": "\"a\"", "Accept-Ranges": "none"], nil),
            (["ETag": "\"a\"", "Content-Encoding": "gzip"], nil),
        ] as [(HTTPHeaders, String?)]
    )
    func whatNamesAVersion(headers: HTTPHeaders, validator: String?) {
        let asked = ContainerVersion(Self.head(.ok, headers))?.headers(forRestFrom: 7)
        expectNoDifference(asked?.first(name: "If-Range"), validator)
        expectNoDifference(asked?.first(name: "Range"), validator == nil ? nil : "bytes=7-")
    }

    @Test func onlyAWholeContentHasARest() {
        for status in [HTTPResponseStatus.partialContent, .noContent, .nonAuthoritativeInformation] {
            expectNoDifference(ContainerVersion(Self.head(status, ["ETag": "\"a\""])), nil)
        }
    }

    /// Three of ten bytes have been received.
    @Test(
        arguments: [
            (.partialContent, ["Content-Range": "bytes 3-9/10"], 10),
            (.partialContent, ["Content-Range": "Bytes 3-9/10", "ETag": "\"a\""], 10),
            (.partialContent, ["Content-Range": "bytes 3-9/10", "ETag": "\"b\""], nil),
            (.partialContent, ["Content-Range": "bytes 3-9/10", "Content-Encoding": "gzip"], nil),
            (.partialContent, ["Content-Range": "bytes 2-9/10"], nil),
            (.partialContent, ["Content-Range": "bytes 4-9/10"], nil),
            (.partialContent, ["Content-Range": "bytes 3-8/10"], nil),
            (.partialContent, ["Content-Range": "bytes 3-10/11"], nil),
            (.partialContent, ["Content-Range": "bytes 3-9/*"], nil),
            (.partialContent, ["Content-Range": "bytes */10"], nil),
            (.partialContent, ["Content-Range": "bytes 3-9"], nil),
            (.partialContent, ["Content-Range": "bytes +3-9/10"], nil),
            (.partialContent, ["Content-Range": "bytes 3-99999999999999999999/10"], nil),
            (.partialContent, ["Content-Range": "items 3-9/10"], nil),
            (.partialContent, ["Content-Type": "multipart/byteranges; boundary=x"], nil),
            (.ok, ["Content-Range": "bytes 3-9/10"], nil),
            (.ok, ["ETag": "\"a\""], nil),
            (.rangeNotSatisfiable, ["Content-Range": "bytes */10"], nil),
        ] as [(HTTPResponseStatus, HTTPHeaders, Int?)]
    )
    func whatIsTheRest(status: HTTPResponseStatus, headers: HTTPHeaders, whole: Int?) {
        let version = ContainerVersion(Self.head(.ok, ["ETag": "\"a\"", "Content-Length": "10"]))
        expectNoDifference(version?.byteCount(ofWholeWith: Self.head(status, headers), from: 3), whole)
    }

    @Test func theLengthMayBeUnknownUntilThen() {
        let version = ContainerVersion(Self.head(.ok, ["ETag": "\"a\""]))
        let rest = Self.head(.partialContent, ["Content-Range": "bytes 3-10/11"])
        expectNoDifference(version?.byteCount(ofWholeWith: rest, from: 3), 11)
    }

    // MARK: Progress

    private let broken = HTTPClientError(code: .truncatedBody, outcome: .answered)

    @Test func eachAttemptHasToBringSomething() {
        var progress = ResumableProgress(Self.head(.ok, ["ETag": "\"a\""]))
        for position in [0, 3, 4] {
            progress.position = position
            #expect(progress.mayGoOn(after: broken))
            expectNoDifference(progress.goOn()?.first(name: "Range"), "bytes=\(position)-")
        }
        #expect(!progress.mayGoOn(after: broken))
    }

    @Test func aHostThatAlwaysBreaksOffIsNotAskedForEver() {
        var progress = ResumableProgress(Self.head(.ok, ["ETag": "\"a\""]))
        var count = 0
        while progress.mayGoOn(after: broken) {
            progress.position += 1
            _ = progress.goOn()
            progress.position += 1
            count += 1
        }
        expectNoDifference(count, 20)
    }

    @Test func aBodyThatEndsBeforeTheAnnouncedRestIsNotComplete() {
        var progress = ResumableProgress(Self.head(.ok, ["ETag": "\"a\""]))
        progress.position = 3
        #expect(progress.isComplete)
        let isContinued = progress.isContinued(by: Self.head(.partialContent, ["Content-Range": "bytes 3-9/10"]))
        #expect(isContinued)
        progress.position = 9
        #expect(!progress.isComplete)
        progress.position = 10
        #expect(progress.isComplete)
        progress.position = 11
        #expect(!progress.isComplete)
    }

    @Test(arguments: [
        (HTTPClientError.Code.connectionClosed, true), (.truncatedBody, true), (.idleTimeout, false),
        (.totalTimeout, false), (.responseTooLarge, false), (.shutdown, false), (.malformedResponse, false),
    ])
    func onlyABrokenConnectionIsGoneOnWith(code: HTTPClientError.Code, mayGoOn: Bool) {
        let progress = ResumableProgress(Self.head(.ok, ["ETag": "\"a\""]))
        expectNoDifference(progress.mayGoOn(after: HTTPClientError(code: code, outcome: .answered)), mayGoOn)
        #expect(!ResumableProgress(Self.head(.ok, [:])).mayGoOn(after: broken))
    }
}
