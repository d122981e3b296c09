import CustomDump
import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// Which logins are sent, and which are held back because the server has refused the same credentials before.
@Suite struct CredentialsGateTests {
    private let time = TestClock()
    /// The logins that were sent, and the error that the server answers for each credentials.
    private let sent = NIOLockedValueBox<[String]>([])
    private let refusals = NIOLockedValueBox<[String: FMRest.APIError]>([:])

    private func makeGate(_ provider: DataAPI.CredentialsProvider) -> CredentialsGate {
        CredentialsGate(
            provider: provider,
            place: "the test",
            lockOutCoolDown: .seconds(300),
            now: { [time] in time.deadline }
        )
    }

    private func logIn(_ gate: CredentialsGate) -> [String] {
        gate.logIn { [sent, refusals] credentials -> AnyPublisher<SessionToken, FMRest.APIError> in
            let name = Self.name(credentials)
            sent.withLockedValue { $0.append(name) }
            if let error = refusals.withLockedValue({ $0[name] }) { return Fail(error: error).eraseToAnyPublisher() }
            return Just(SessionToken("token")).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        .record(describe: \.value)
        .history
    }

    private static func name(_ credentials: DataAPI.Credentials) -> String {
        switch credentials.secret {
        case .basic(let user, let password): "\(user)/\(password)"
        case .clarisId(let token): token
        case .oAuth(let request, _): request
        case .token, .key, .invalid: "-"
        }
    }

    /// A provider that supplies `id1`, `id2`, …
    private func numbered(validity: Duration?) -> DataAPI.CredentialsProvider {
        let last = NIOLockedValueBox(0)
        return DataAPI.CredentialsProvider(validity: validity) {
            let number = last.withLockedValue { last in
                last += 1
                return last
            }
            return Just(DataAPI.Credentials(clarisId: "id\(number)"))
                .setFailureType(to: (any Error).self)
                .eraseToAnyPublisher()
        }
    }

    @Test func aRefusedPasswordIsNotSentAgain() {
        let gate = makeGate(.fixed(.init(user: "api", password: "wrong")))
        refusals.withLockedValue { $0["api/wrong"] = .wrongPassword }
        for _ in 0..<5 { expectNoDifference(logIn(gate), ["failed fileMaker 212"]) }
        expectNoDifference(sent.withLockedValue { $0 }, ["api/wrong"])

        gate.replace(with: .fixed(.init(user: "api", password: "right")))
        expectNoDifference(logIn(gate), ["token", "finished"])
    }

    /// 952 is about a token, not about the password, so the gate must not hold back later logins.
    @Test func aLoginThatIsToldOfADeadTokenIsTriedAgain() {
        let gate = makeGate(.fixed(.init(user: "api", password: "right")))
        refusals.withLockedValue { $0["api/right"] = .refused }
        for _ in 0..<2 { expectNoDifference(logIn(gate), ["failed fileMaker 952"]) }
        refusals.withLockedValue { $0 = [:] }
        expectNoDifference(logIn(gate), ["token", "finished"])
    }

    @Test func aPasswordThatStopsWorkingIsTriedOnceMoreAtMost() {
        let gate = makeGate(.fixed(.init(user: "api", password: "old")))
        expectNoDifference(logIn(gate), ["token", "finished"])
        refusals.withLockedValue { $0["api/old"] = .wrongPassword }
        for _ in 0..<5 { expectNoDifference(logIn(gate), ["failed fileMaker 212"]) }
        expectNoDifference(sent.withLockedValue { $0 }, ["api/old", "api/old"])
    }

    /// The error of a login that was sent has the server's reason. The error of one that was held back says that the
    /// server refused earlier and that nothing was sent.
    @Test func theErrorTellsAnAnswerFromAMemory() {
        let gate = makeGate(.fixed(.init(user: "api", password: "old")))
        _ = logIn(gate)
        refusals.withLockedValue { $0["api/old"] = .wrongPassword }
        let reasons = Locked<[String]>([])
        for _ in 0..<2 {
            gate.logIn { _ in Fail(error: .wrongPassword).eraseToAnyPublisher() }
                .mapError { error in
                    reasons.change { $0.append(error.reason) }
                    return error
                }
                .subscribe(Recorder<SessionToken>())
        }
        expectNoDifference(
            reasons.value,
            [
                "No",
                "The server refused these credentials earlier with 212 "
                    + "(\(FileMakerErrorCode.invalidAccount.name ?? "?")), so nothing was sent.",
            ]
        )
    }

    @Test func aLockedAccountIsLeftAloneForAWhile() {
        let gate = makeGate(.fixed(.init(user: "api", password: "right")))
        let locked = FMRest.APIError(.fileMaker, reason: "Locked", fileMakerCode: 214, httpStatus: 401)
        refusals.withLockedValue { $0["api/right"] = locked }
        expectNoDifference(logIn(gate), ["failed fileMaker 214"])
        refusals.withLockedValue { $0 = [:] }
        time.advance(by: .seconds(299))
        expectNoDifference(logIn(gate), ["failed fileMaker 214"])
        time.advance(by: .seconds(1))
        expectNoDifference(logIn(gate), ["token", "finished"])
        expectNoDifference(sent.withLockedValue { $0.count }, 2)
    }

    @Test(arguments: [210, 211, 212]) func everyCodeAboutTheAccountHoldsItBack(code: Int) {
        let gate = makeGate(.fixed(.init(user: "api", password: "x")))
        let error = FMRest.APIError(.fileMaker, reason: "No", fileMakerCode: .init(rawValue: code), httpStatus: 500)
        refusals.withLockedValue { $0["api/x"] = error }
        _ = logIn(gate)
        time.advance(by: .hours(24))
        expectNoDifference(logIn(gate), ["failed fileMaker \(code)"])
        expectNoDifference(sent.withLockedValue { $0.count }, 1)
    }

    @Test func aConnectionThatBreaksIsNobodysFault() {
        let gate = makeGate(.fixed(.init(user: "api", password: "x")))
        refusals.withLockedValue { $0["api/x"] = .broken }
        expectNoDifference(logIn(gate), ["failed network"])
        refusals.withLockedValue { $0 = [:] }
        expectNoDifference(logIn(gate), ["token", "finished"])
    }

    @Test func aClarisTokenIsUsedForItsHourLessAMinute() {
        let gate = makeGate(numbered(validity: .seconds(3600)))
        _ = logIn(gate)
        time.advance(by: .seconds(3539))
        _ = logIn(gate)
        time.advance(by: .seconds(1))
        _ = logIn(gate)
        expectNoDifference(sent.withLockedValue { $0 }, ["id1", "id1", "id2"])
    }

    @Test func aClarisTokenThatEndedEarlyIsReplacedAtOnce() {
        let gate = makeGate(numbered(validity: .seconds(3600)))
        _ = logIn(gate)
        refusals.withLockedValue { $0["id1"] = FMRest.APIError(.notDataAPI, reason: "HTML", httpStatus: 401) }
        expectNoDifference(logIn(gate), ["token", "finished"])
        expectNoDifference(sent.withLockedValue { $0 }, ["id1", "id1", "id2"])
    }

    @Test func aPairThatIsGoodForOneLoginIsAskedForEachTime() {
        let gate = makeGate(numbered(validity: nil))
        _ = logIn(gate)
        _ = logIn(gate)
        expectNoDifference(sent.withLockedValue { $0 }, ["id1", "id2"])
    }

    @Test func aSessionTokenCannotLogIn() {
        expectNoDifference(logIn(makeGate(.fixed(.init(token: "abc")))), ["failed unauthorized"])
        expectNoDifference(logIn(makeGate(.fixed(.invalid))), ["failed unauthorized"])
        expectNoDifference(sent.withLockedValue { $0 }, [])
    }

    @Test func aProviderThatFailsSaysSoWithoutItsText() {
        struct Secret: Error, CustomStringConvertible { let description = "password: 1234" }
        let gate = makeGate(.init { Fail(error: Secret()).eraseToAnyPublisher() })
        let texts = NIOLockedValueBox<[String]>([])
        gate.logIn { _ in Empty().eraseToAnyPublisher() }
            .mapError { error in
                texts.withLockedValue { $0.append("\(error)") }
                return error
            }
            .subscribe(Recorder<SessionToken>())
        expectNoDifference(texts.withLockedValue { $0 }, ["unauthorized: The credentials provider failed (Secret)."])
        expectNoDifference(logIn(makeGate(.init { Empty().eraseToAnyPublisher() })), ["failed unauthorized"])
    }

    @Test func cancellingTheLoginCancelsTheProvider() {
        let cancelled = NIOLockedValueBox(false)
        let gate = makeGate(
            .init {
                PassthroughSubject<DataAPI.Credentials, any Error>()
                    .handleEvents(receiveCancel: { cancelled.withLockedValue { $0 = true } })
                    .eraseToAnyPublisher()
            }
        )
        let login = gate.logIn { _ in Empty().eraseToAnyPublisher() }.record()
        login.cancel()
        #expect(cancelled.withLockedValue { $0 })
    }

    @Test func fewRefusedPasswordsInTurnAreAllRemembered() {
        var loginGuard = LoginGuard(coolDown: .seconds(1))
        let passwords = (0..<20).map { DataAPI.Credentials(user: "a", password: "\($0)") }
        for credentials in passwords { loginGuard.loginFailed(credentials, .wrongPassword, now: time.deadline) }
        let held = passwords.map { loginGuard.error(for: $0, now: time.deadline) != nil }
        expectNoDifference(held, Array(repeating: false, count: 4) + Array(repeating: true, count: 16))
    }
}
