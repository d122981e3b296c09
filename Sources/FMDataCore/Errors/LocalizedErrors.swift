public import FMHTTP
public import Foundation

// How Foundation shows the errors of this library: `localizedDescription`, which many programs log or show, and
// `NSError`. All of them have their `description` there, an `APIError` a shorter form of it, and their hint as the
// suggestion. Those of finds, containers, saving and journals say so in their own files.

extension FMRest.APIError: LocalizedError {
    /// What happened, with the number of FileMaker's error where there is one; the text of `localizedDescription`. It
    /// holds no secret and no field value.
    public var errorDescription: String? {
        let number = code == .fileMaker ? fileMakerCode.map { "FileMaker error \($0.rawValue): " } : nil
        return (number ?? "") + reason.shortened
            + (outcomeIsUnknown ? " The server may have carried out the request." : "")
    }

    /// The meaning of FileMaker's error, where there is one.
    public var failureReason: String? { fileMakerCode?.summary }

    /// The ``hint``.
    public var recoverySuggestion: String? { hint?.shortened }
}

extension FMRest.APIError: CustomNSError {
    /// `FMRest.APIError`.
    public static var errorDomain: String { "FMRest.APIError" }

    /// FileMaker's code, when ``fileMakerCode`` has one; else the number of the kind of failure, which is -100 or less
    /// and the same in all versions: ``Code/number``.
    public var errorCode: Int { fileMakerCode?.rawValue ?? code.number }

    /// The kind of failure under `code`, the status under `httpStatus`, and under `request` the method and URL, without
    /// secrets and field values. The underlying error is left out: its text may hold a value.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = ["code": code.description]
        // Foundation on Linux reads these texts of a `CustomNSError` here, and not as those of a `LocalizedError`.
        info[NSLocalizedDescriptionKey] = errorDescription
        info[NSLocalizedFailureReasonErrorKey] = failureReason
        info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        info["httpStatus"] = httpStatus
        info["request"] = request?.description
        return info
    }
}

extension HTTPClientError: LocalizedError {
    /// What happened, at which host, and why.
    public var errorDescription: String? { description }

    /// What to check or change, where the library knows.
    public var recoverySuggestion: String? { hint }
}

extension DecodingFailure: LocalizedError {
    /// The place and the reason, without the value.
    public var errorDescription: String? { summary }

    /// The ``hint``.
    public var recoverySuggestion: String? { hint }
}

extension EncodingFailure: LocalizedError {
    /// The place and the reason, without the value.
    public var errorDescription: String? { description }
}

extension ValueFormat.PatternError: LocalizedError {
    /// The pattern and what is wrong with it.
    public var errorDescription: String? { description }
}
