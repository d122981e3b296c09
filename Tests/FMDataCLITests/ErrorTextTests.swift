import CustomDump
import FMData
import Testing

@testable import FMDataCLI

/// The library's errors as the command line prints them, without Swift terms.
@Suite struct ErrorTextTests {
    private func hint(_ hint: String?, _ code: DataAPI.TransportError.Code? = nil) -> String? {
        let cause = code.map { DataAPI.TransportError(code: $0, outcome: .notSent) }
        return ErrorText.hint(for: FMRest.APIError(.network, reason: "No.", hint: hint, underlying: cause))
    }

    @Test func sentencesOfSwiftAreLeftOut() {
        expectNoDifference(hint("More sessions (maximumSessions), or fewer requests at once."), nil)
        expectNoDifference(
            hint("Nothing was sent. Allow the call more time, or the database more sessions (maximumSessions)."),
            "Nothing was sent."
        )
        expectNoDifference(
            hint("Close idle sessions in the Admin Console. Config.timeouts.total says how long all calls wait."),
            "Close idle sessions in the Admin Console."
        )
        expectNoDifference(hint("Write the host alone, and give the account to addDatabase(_:credentials:)."), nil)
        expectNoDifference(
            hint("FileMaker Server answers so. See fms.example.com/a, or JavaScript."),
            "FileMaker Server answers so."
        )
        expectNoDifference(hint(nil), nil)
        expectNoDifference(hint(#"Did you mean "myLayout" or "b.c"?"#), #"Did you mean "myLayout" or "b.c"?"#)
    }

    @Test(
        arguments: [
            .insecureScheme, .plainHTTPServer, .tlsServer, .connectionClosed, .certificateUntrusted,
            .certificateNameMismatch, .invalidTLSOptions, .tlsFailure, .unusableProxy, .connectTimeout,
            .firstByteTimeout, .totalTimeout, .responseTooLarge, .unknownHost, .certificatePinMismatch,
        ] as [DataAPI.TransportError.Code]
    )
    func noHintOfTheTransportNamesSwift(_ code: DataAPI.TransportError.Code) {
        let text = hint("See config.tls.roots = .systemAnd(file: \"ca.pem\"). Ask again.", code) ?? ""
        #expect(!text.contains("config") && !text.isEmpty, "\(code): \(text)")
    }

    @Test func limitsAreNamedByTheirLength() {
        let error = FMRest.APIError(
            .timeout,
            reason: "The call waited for its login, which the server has not answered; the limit was "
                + "sessions.waitingDeadline, 30.0 seconds: \(DataAPI.SessionStatus()).",
            hint: "Nothing of the call was sent. Config.timeouts.connect says how long all calls wait."
        )
        expectNoDifference(
            "\(ErrorText(error))",
            "timeout: The call waited for its login, which the server has not answered; the limit was 30.0 "
                + "seconds. Hint: Nothing of the call was sent."
        )
    }
}
