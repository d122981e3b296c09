import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The texts that Foundation shows for errors: `localizedDescription` in the log of someone who does not know this
/// library.
@Suite(.timeLimit(.minutes(15))) struct LocalizedErrorTests {
    @Test func itSaysWhatHappenedAndTheNumber() async throws {
        try await World.run { world in
            let result = await world.contacts.editRecord(["Nmae": "b"], recordId: 1).awaitSingleResult()
            let error: any Error = try #require(result.failure)
            expectNoDifference(
                error.localizedDescription,
                #"FileMaker error 102: Field is missing: "Nmae" is not on layout "Contacts"."#
            )
            let localized = try #require(error as? any LocalizedError)
            expectNoDifference(localized.failureReason, "FileMaker error 102: field is missing")
            expectNoDifference(localized.recoverySuggestion, #"Did you mean "Name"?"#)
        }
    }

    @Test func aFailureWithoutFileMakersCodeSaysItsReason() {
        var error = FMRest.APIError(.timeout, reason: "The call waited.", hint: "Wait longer.")
        expectNoDifference((error as any Error).localizedDescription, "The call waited.")
        error.outcomeIsUnknown = true
        expectNoDifference(
            (error as any Error).localizedDescription,
            "The call waited. The server may have carried out the request."
        )
    }

    /// A script error's own text contains the code, so it is not added a second time.
    @Test func aScriptsErrorSaysItsCodeOnce() {
        let error = FMRest.APIError(DataAPI.ScriptFailure(script: "S", phase: .afterRequest, code: 401))
        expectNoDifference(
            (error as any Error).localizedDescription,
            #"The script "S" ended with 401 (no records match the request)."#
        )
    }

    // MARK: NSError

    @Test func itsCodeIsFileMakersOrThatOfItsKind() {
        func code(_ error: FMRest.APIError) -> Int { (error as any CustomNSError).errorCode }
        expectNoDifference(FMRest.APIError.errorDomain, "FMRest.APIError")
        expectNoDifference(code(.init(.fileMaker, reason: "", fileMakerCode: 301)), 301)
        expectNoDifference(code(.init(.unauthorized, reason: "", fileMakerCode: 212)), 212)
        expectNoDifference(code(.init(.network, reason: "")), -109)
        expectNoDifference(code(.init(.timeout, reason: "")), -111)
    }

    /// Programs store these numbers and compare them with those of other versions.
    @Test func theNumbersOfTheKindsStay() {
        let kinds: [(FMRest.APIError.Code, Int)] = [
            (.fileMaker, -100), (.unauthorized, -101), (.sessionLost, -102), (.tokensRefused, -103),
            (.tokenStore, -104), (.notDataAPI, -105), (.decoding, -106), (.encoding, -107), (.invalidRequest, -108),
            (.network, -109), (.tls, -110), (.timeout, -111), (.pagesDrifted, -112), (.responseTooLarge, -113),
            (.container, -114), (.conflict, -115), (.rolledBack, -116), (.script, -117), (.shutdown, -118),
            (.cancelled, -119), (.noValue, -120), (.credentialsReplaced, -121), (.journal, -122),
            (.countDiffers, -123), (.invalidValues, -124), (.keeper, -125), (.sessionBudget, -126),
        ]
        for (kind, number) in kinds { expectNoDifference(kind.number, number) }
        expectNoDifference(Set(kinds.map(\.0)), Set(FMRest.APIError.Code.all))
        for kind in FMRest.APIError.Code.all { expectNoDifference(.init(named: kind.description), kind) }
    }

    @Test func itsDictionaryHoldsNoSecretAndNothingOfOthers() async throws {
        struct Talkative: Error, CustomStringConvertible { let description = "canary" }
        var error = FMRest.APIError(.tokenStore, reason: "r", underlying: Talkative())
        error.httpStatus = 500
        error.request = .init(method: "GET", origin: "https://fms.example.com", path: "/databases/D")
        let info = (error as any CustomNSError).errorUserInfo
        expectNoDifference(info.keys.sorted(), ["NSLocalizedDescription", "code", "httpStatus", "request"])
        expectNoDifference(info["code"] as? String, "tokenStore")
        expectNoDifference(info["httpStatus"] as? Int, 500)
        expectNoDifference(info["request"] as? String, "GET https://fms.example.com/databases/D")
        #expect(!"\(info) \((error as any Error).localizedDescription)".contains("canary"))
    }

    // MARK: The others

    @Test func everyErrorSaysThereWhatItsDescriptionSays() {
        let errors: [any Error & CustomStringConvertible] = [
            DataAPI.ContainerError(.empty),
            DataAPI.FindError(.invalidField, "The field has no name."),
            DataAPI.SaveConflict(.deletedByOther, recordId: 1),
            DataAPI.WriteJournalError(.damaged, line: 3),
            DataAPI.WriteJournalError.Reason.inUse,
            FMRest.ContainerFileError(.unreadable, "The file is not there."),
            HTTPClientError(code: .connectionRefused, outcome: .notSent),
            EncodingFailure(path: ["a"], reason: "no", underlying: nil),
            ValueFormat.PatternError(pattern: "y", reason: "a year needs four digits"),
            FileMakerError(301),
            SolutionError(solution: "S", path: "tables[0]", reason: "no name"),
            Sandbox.PortError(port: 80, reason: "taken"),
            Sandbox.CertificateError("no key"),
        ]
        for error in errors {
            expectNoDifference((error as any Error).localizedDescription, error.description)
        }
    }

    @Test func aJournalThatIsInUseSaysWhatToDo() {
        let error: any LocalizedError = DataAPI.WriteJournalError(.inUse)
        expectNoDifference(
            error.recoverySuggestion,
            "Wait for that run to end, or give this one a journal of its own."
        )
    }

    @Test func anAnswerThatCannotBeReadKeepsItsHintApart() throws {
        struct Mistyped: Decodable { var name: Int }
        do {
            _ = try FMDecoder().decode(Mistyped.self, from: Array(#"{"name": "canary"}"#.utf8))
            Issue.record("a text is no number")
        } catch {
            let failure: any LocalizedError = error
            expectNoDifference(failure.errorDescription, error.summary)
            expectNoDifference(failure.recoverySuggestion, error.hint)
            #expect(!(error as any Error).localizedDescription.contains("canary"))
        }
    }

    // MARK: Underlying errors

    /// The type of the underlying connection error is public.
    @Test func theErrorOfTheConnectionIsAtHand() async throws {
        let closed = try ClosedPort()
        let error = await DataAPI.Server(host: "http://127.0.0.1:\(closed.port)").getProductInfo()
            .awaitSingleResult().failure
        let transport: DataAPI.TransportError = try #require(error?.transportError)
        expectNoDifference(transport.code, .connectionRefused)
        expectNoDifference(transport.outcome, .notSent)
        expectNoDifference(transport.origin?.port, closed.port)
        expectNoDifference(FMRest.APIError(.container, reason: "").transportError, nil)
    }

    @Test func aKindOfFailureMatchesInACatch() {
        func caught(_ error: any Error) -> String {
            do {
                try Result<Void, any Error>.failure(error).get()
                return "none"
            } catch FMRest.APIError.Code.timeout {
                return "timeout"
            } catch {
                return "other"
            }
        }
        struct Stranger: Error {}
        let errors: [any Error] = [
            FMRest.APIError(.timeout, reason: ""), FMRest.APIError(.network, reason: ""), Stranger(),
        ]
        expectNoDifference(errors.map(caught), ["timeout", "other", "other"])
    }
}
