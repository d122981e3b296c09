import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

@Suite(.timeLimit(.minutes(15))) struct APIErrorTests {
    // MARK: Retryable failures

    @Test(arguments: [
        (FMRest.APIError.Code.unauthorized, false), (.sessionLost, false), (.decoding, false), (.encoding, false),
        (.invalidRequest, false), (.network, true), (.tls, false), (.timeout, true), (.responseTooLarge, false),
        (.script, false), (.shutdown, false), (.cancelled, false), (.noValue, false), (.notDataAPI, false),
    ])
    func aKindOfFailurePassesOrStays(code: FMRest.APIError.Code, isRetryable: Bool) {
        expectNoDifference(FMRest.APIError(code, reason: "").isRetryable, isRetryable)
        expectNoDifference(FMRest.APIError(code, reason: "", outcomeIsUnknown: true).isRetryable, false)
    }

    /// Every failure of the transport, for a read (which changes nothing) and for a write.
    @Test(arguments: [
        // Temporary failures. Nothing was sent, except where the connection broke or a limit struck during the
        // exchange.
        (HTTPClientError.Code.unknownHost, true), (.connectionRefused, true), (.connectFailed, true),
        (.connectTimeout, true), (.queueTimeout, true), (.proxyFailure, true),
        (.connectionClosed, true), (.truncatedBody, true),
        (.firstByteTimeout, true), (.idleTimeout, true), (.tooSlow, true), (.totalTimeout, true),
        // Permanent failures: the next attempt would end in the same way.
        (.invalidRequest, false), (.insecureScheme, false), (.unusableProxy, false), (.shutdown, false),
        (.invalidTLSOptions, false), (.tlsFailure, false), (.plainHTTPServer, false), (.tlsServer, false),
        (.certificateUntrusted, false), (.certificateExpired, false), (.certificateNotYetValid, false),
        (.certificateNameMismatch, false), (.certificateInvalid, false), (.certificatePinMismatch, false),
        (.proxyAuthenticationRequired, false), (.bodyFailed, false), (.bodyLengthMismatch, false),
        (.malformedResponse, false), (.headTooLarge, false), (.responseTooLarge, false),
        (.decompressionFailed, false),
    ])
    func aFailureOfTheTransportPassesOrStays(code: HTTPClientError.Code, isRetryable: Bool) {
        let summary = FMRest.APIError.RequestSummary(method: "GET", origin: "h", path: "/")
        for outcome in [HTTPClientError.Outcome.notSent, .unknown, .answered] {
            let error = FMRest.APIError(HTTPClientError(code: code, outcome: outcome))
            expectNoDifference(error.about(summary, isSafeToRepeat: true).isRetryable, isRetryable)
        }
        let write = FMRest.APIError(HTTPClientError(code: code, outcome: .unknown))
        expectNoDifference(write.about(summary, isSafeToRepeat: false).isRetryable, false)
    }

    @Test(arguments: [(502, true), (503, true), (504, true), (500, false), (404, false), (413, false), (401, false)])
    func aGatewayWithoutItsEngineIsTriedAgainByReadsOnly(status: UInt, isRetryable: Bool) {
        let summary = FMRest.APIError.RequestSummary(method: "GET", origin: "h", path: "/")
        let answer = HTTPResponse(status: HTTPResponseStatus(statusCode: Int(status)))
        let error = AnswerReader().notDataAPI(answer)
        expectNoDifference(error.about(summary, isSafeToRepeat: true).isRetryable, isRetryable)
        expectNoDifference(error.about(summary, isSafeToRepeat: false).isRetryable, false)
        let content = FMRest.APIError(DataAPI.ContainerError(.unavailable, httpStatus: Int(status)))
        expectNoDifference(content.isRetryable, isRetryable)
    }

    @Test func aSlowAnswerNamesItsLimit() {
        var timeouts = DataAPI.Timeouts()
        timeouts.minimumRate = 500
        let error = FMRest.APIError(HTTPClientError(code: .tooSlow, outcome: .answered)).naming(timeouts)
        expectNoDifference(error.code, .timeout)
        expectNoDifference(
            error.reason,
            "the response came too slowly. The call waited for the rest of the answer; the limit was timeouts.minimumRate, "
                + "500 bytes per second."
        )
        #expect(error.hint?.contains(".timeouts { $0.minimumRate = … }") == true)
    }

    @Test func anErrorOfAJournalKeepsItsCode() {
        let error = FMRest.APIError(wrapping: DataAPI.WriteJournalError(.inUse))
        expectNoDifference(error.code, .journal)
        expectNoDifference(error.hint, "Wait for that run to end, or give this one a journal of its own.")
    }

    @Test func anErrorOfAStrangerDoesNotSayThatItPasses() {
        struct Strange: Error {}
        #expect(!FMRest.APIError(wrapping: Strange()).isRetryable)
    }

    @Test func theCodeOfFileMakerDecidesOverTheWholeTable() {
        for code in FileMakerErrorCode.rows.keys.map(FileMakerErrorCode.init(rawValue:)) {
            let error = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: code)
            expectNoDifference(error.isRetryable, code.isRetryable || code == .invalidToken, "\(code)")
            var unknown = error
            unknown.outcomeIsUnknown = true
            expectNoDifference(unknown.isRetryable, false)
            expectNoDifference(FMRest.APIError(DataAPI.ScriptFailure(phase: .preSort, code: code)).isRetryable, false)
        }
    }

    @Test(arguments: [(502, true), (503, true), (504, true), (200, false), (404, false), (500, false), (nil, false)])
    func aWebPageMeansAServerThatIsComingBackOrNone(status: Int?, isRetryable: Bool) {
        let error = FMRest.APIError(.notDataAPI, reason: "", httpStatus: status)
        expectNoDifference(error.isRetryable, isRetryable)
    }

    /// The token was refused in two sessions, and nothing was carried out.
    @Test func aTokenThatIsRefusedTwiceMayBeTakenLater() {
        let refused = FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .invalidToken, httpStatus: 401)
        for error in [refused, FMRest.APIError(.tokensRefused, reason: "")] {
            expectNoDifference(error.isRetryable, true)
            expectNoDifference(error.passing, .state)
        }
        // The session and its state are gone for good.
        let lost = FMRest.APIError(.sessionLost, reason: "", fileMakerCode: .invalidToken)
        expectNoDifference(lost.isRetryable, false)
        expectNoDifference(lost.passing, nil)
    }

    // MARK: Hints

    /// The codes that users of the Data API meet. Codes whose name explains everything are included.
    @Test func everyCodeOfTheDataAPIHasAHint() {
        let met: Set<Int> = [
            3, 9, 10, 100, 101, 102, 103, 104, 105, 106, 108, 110, 111, 112, 117, 200, 201, 202, 204, 210, 211, 212,
            214,
            300, 301, 303, 304, 306, 307, 400, 401, 404, 407, 408, 413, 415, 500, 501, 502, 503, 504, 505, 506, 507,
            508,
            509, 510, 511, 512, 802, 803, 812, 951, 952, 953, 955, 956, 957, 958, 959, 960, 1638, 1700, 1701, 1702,
            1703,
            1705, 1708, 1710, 1711,
        ]
        expectNoDifference(met.filter { FileMakerErrorCode(rawValue: $0).hint == nil }.sorted(), [])
    }

    @Test func theHintOfACodeIsThatOfItsError() async throws {
        // Codes that end the session or report a full host are left out: they would change which request follows.
        let codes = FileMakerErrorCode.rows.keys.sorted().map(FileMakerErrorCode.init(rawValue:)).filter {
            $0.hint != nil && !$0.meansSessionLost && !$0.meansHostFull && $0 != .windowMissing
        }
        try await ScriptedHost.run(answer: { call in .error(codes[call.number % codes.count].rawValue) }) { host in
            for code in codes {
                let error = await host.database.getScriptNames().awaitSingleResult().failure
                expectNoDifference(error?.fileMakerCode, code)
                expectNoDifference(error?.hint, code.hint)
                #expect(error?.description.contains(code.hint ?? "?") == true)
            }
        }
    }

    // MARK: Texts from the server

    /// A server may send texts of any length; what is printed of them fits a line of a log.
    @Test(.thorough, arguments: ["x", "é", "e\u{301}", "\u{301}", "👨‍👩‍👧"])
    func aMessageOfTenMegabytesIsCutWhereItIsPrinted(letter: String) throws {
        let text = String(repeating: letter, count: 10_000_000 / letter.utf8.count)
        let message = DataAPI.Message(code: "101", message: text)
        let error = FMRest.APIError(
            .fileMaker,
            reason: text,
            hint: text,
            fileMakerCode: 101,
            messages: [message],
            contentType: text
        )
        for value in [error, message, error.messages] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [String(describing: value), String(reflecting: value), String(customDumping: value), dumped] {
                #expect(text.utf8.count < 100_000)
            }
        }
        #expect(error.description.utf8.starts(with: "fileMaker 101: \(letter)\(letter)".utf8))
        #expect(error.description.contains("… (\(text.utf8.count) bytes)"))
        #expect(error.message == text)
    }

    @Test func anOrdinaryTextIsPrintedWhole() {
        let text = String(repeating: "x", count: 2000)
        #expect("\(FMRest.APIError(.network, reason: text))" == "network: \(text)")
        #expect("\(DataAPI.Message(code: "101", message: "Record is missing"))" == "101: Record is missing")
        #expect("\(DataAPI.Message(code: "101"))" == "101")
    }

    // MARK: Too large

    /// The request never reached the engine, so it had no effect; sending it again would fail as well.
    @Test func aRequestThatIsTooLargeWasNotCarriedOut() async throws {
        var configuration = Sandbox.Configuration()
        configuration.maximumBodyBytes = 1000
        configuration.keepAlive = .seconds(3600)
        let sandbox = try await Sandbox.start([.sample], configuration: configuration)
        let layout = DataAPI.Server(host: sandbox.url, config: .patient)
            .addDatabase("World", credentials: Credentials(user: "admin", password: "secret")).addLayout("Contacts")
        let record = EditRecord(createRecord: ["Notes": String(repeating: "x", count: 2000)])
        let error = await layout.createRecord(record: record).awaitSingleResult().failure
        expectNoDifference(error?.code, .invalidRequest)
        expectNoDifference(error?.httpStatus, 413)
        expectNoDifference(error?.outcomeIsUnknown, false)
        expectNoDifference(error?.isRetryable, false)
        expectNoDifference(error?.request?.method, "POST")
        #expect(error?.reason.contains("has not carried it out") == true)
        #expect(error?.hint?.contains("client_max_body_size") == true)
        _ = await layout.database.logOut().awaitSingleResult()
        await sandbox.stop()
    }

    // MARK: The request

    @Test func theRequestIsAURLToPaste() async throws {
        try await World.run { world in
            let error = await world.database.addLayout("Nach / 1 %").getRecords(recordQuery: RecordQuery(limit: 2))
                .returnAs(FieldData.self).awaitSingleResult().failure
            let url = "\(world.sandbox.url)/fmi/data/vLatest/databases/World/layouts/Nach%20%2F%201%20%25/records"
            expectNoDifference(error?.request?.url, url)
            expectNoDifference(error?.request?.description, "GET \(url)")
            expectNoDifference(error?.request?.path, "/databases/World/layouts/Nach%20%2F%201%20%25/records")
            expectNoDifference(
                error?.description,
                #"fileMaker 105: Layout is missing: "Nach / 1 %" is no layout of "World" that the account sees. "#
                    + "[HTTP 500] (GET \(url)) "
                    + "Hint: \(FileMakerErrorCode.layoutMissing.hint ?? "?")"
            )
        }
    }

    // MARK: curl

    @Test func aCurlLineHasTheNamesAndNoValue() async throws {
        try await World.run { world in
            let error = await world.contacts.findRecords(
                query: FindQuery(
                    query: [["Nmae": "s3cret", "City's": "s3cret"]],
                    sort: [.init(fieldName: "Name")],
                    script: ScriptQuery(script: "Echo", scriptParam: "s3cret"),
                    limit: 5
                )
            ).returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(
                error?.curl,
                "curl -X POST '\(world.sandbox.url)/fmi/data/vLatest/databases/World/layouts/Contacts/_find'"
                    + " -H 'Authorization: Bearer ••••' -H 'Content-Type: application/json' --data-raw '"
                    + #"{"limit":"5","query":[{"City'\''s":"••••","Nmae":"••••"}],"script":"Echo","#
                    + #""script.param":"••••","sort":[{"fieldName":"Name","sortOrder":"ascend"}]}'"#
            )
            let read = await world.database.addLayout("Nach / 1 %").getRecords(
                recordQuery: RecordQuery(
                    script: ScriptQuery(script: "E&cho", scriptParam: "s3cret"),
                    portal: [PortalRequest(name: "P Q", limit: 2)],
                    offset: 3
                )
            ).returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(
                read?.curl,
                "curl -X GET '\(world.sandbox.url)/fmi/data/vLatest/databases/World/layouts/Nach%20%2F%201%20%25/records"
                    + "?_offset=3&portal=%5B%22P%20Q%22%5D&_limit.P%20Q=2&script=E%26cho&script.param=••••'"
                    + " -H 'Authorization: Bearer ••••'"
            )
        }
    }

    @Test func aCurlLineOfALogin() async throws {
        try await World.run(credentials: Credentials(user: "ada", password: "s3cret")) { world in
            let error = await world.database.getScriptNames().awaitSingleResult().failure
            expectNoDifference(
                error?.curl,
                "curl -X POST '\(world.sandbox.url)/fmi/data/vLatest/databases/World/sessions'"
                    + " -H 'Authorization: Basic ••••' -H 'Content-Type: application/json' --data-raw '{}'"
            )
        }
    }

    @Test func aLargeBodyIsNoneToRead() throws {
        func body(_ fields: [String: String]) throws -> String? {
            let layout = DataAPI.Server(host: "h").addDatabase("d").addLayout("l")
            let record = EditRecord(createRecord: fields)
            let request: DataAPIRequest<DataAPI.CreateResponse> = try .create(in: layout, record: record)
            return request.summary(at: Origin(scheme: .https, host: "h")).body
        }
        expectNoDifference(
            try body(["Notes": String(repeating: "x", count: 20_000)]),
            #"{"fieldData":{"Notes":"••••"}}"#
        )
        let many = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("Field \($0)", "x") })
        expectNoDifference(try body(many), "••••")
    }

    // MARK: Continuing after a failure

    private func failing(_ code: FileMakerErrorCode?) -> AnyPublisher<Int, FMRest.APIError> {
        Fail(error: FMRest.APIError(.fileMaker, reason: "r", fileMakerCode: code)).eraseToAnyPublisher()
    }

    @Test func aCodeIsReplacedByAValueAndOthersPass() async throws {
        let value = try await failing(.recordMissing)
            .replaceError(of: .noRecordsMatch, .recordMissing, with: 7).firstValue()
        expectNoDifference(value, 7)
        for code in [FileMakerErrorCode.recordInUse, nil] {
            let error = await failing(code).replaceError(of: .recordMissing, with: 7).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, code)
        }
    }

    @Test func aCodeIsCaughtAndOthersPass() async throws {
        let value = try await failing(306).catchError(of: .modIdMismatch) { error in
            Just(error.reason.count).setFailureType(to: FMRest.APIError.self)
        }.firstValue()
        expectNoDifference(value, 1)
        let other = await failing(101).catchError(of: .modIdMismatch) { _ in failing(5) }.awaitSingleResult().failure
        expectNoDifference(other?.fileMakerCode, .recordMissing)
        let next = await failing(306).catchError(of: .modIdMismatch) { _ in failing(5) }.awaitSingleResult().failure
        expectNoDifference(next?.fileMakerCode, 5)
    }

    /// A retry would meet the same certificate or read the same file.
    @Test(arguments: [
        HTTPClientError.Code.tlsFailure, .plainHTTPServer, .tlsServer, .certificateUntrusted, .certificateExpired,
        .certificateNotYetValid, .certificateNameMismatch, .certificateInvalid, .certificatePinMismatch,
        .invalidTLSOptions,
    ])
    func everythingAboutTLSIsSaidToBeSo(code: HTTPClientError.Code) {
        let error = FMRest.APIError(HTTPClientError(code: code, outcome: .notSent))
        expectNoDifference(error.code, .tls)
        #expect(!error.isRetryable)
    }
}
