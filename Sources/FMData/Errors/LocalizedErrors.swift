public import FMHTTP
public import Foundation

// What Foundation makes of the errors that users of this library meet: `localizedDescription`, which many programs log or show, and
// `NSError`. All of them say there what their `description` says, and their hint is the suggestion.

extension FMRest.APIError: LocalizedError {
    /// What happened, with the number of FileMaker's error where there is one: what `localizedDescription` says. It holds no
    /// secret and no field value.
    public var errorDescription: String? {
        let number = code == .fileMaker ? fileMakerCode.map { "FileMaker error \($0.rawValue): " } : nil
        return (number ?? "") + reason.shortened
            + (outcomeIsUnknown ? " The server may have carried out the request." : "")
    }

    /// What FileMaker's error means, where there is one.
    public var failureReason: String? { fileMakerCode?.summary }

    /// The ``hint``.
    public var recoverySuggestion: String? { hint?.shortened }
}

extension FMRest.APIError: CustomNSError {
    /// `FMRest.APIError`.
    public static var errorDomain: String { "FMRest.APIError" }

    /// FileMaker's code, when ``fileMakerCode`` has one; else the number of the kind of failure, which is -100 or less and stays
    /// the same in all versions: ``Code/number``.
    public var errorCode: Int { fileMakerCode?.rawValue ?? code.number }

    /// The kind of failure under `code`, the status under `httpStatus`, and under `request` the method and URL, without secrets and
    /// field values. The error of a lower layer is left out: what its text says nobody has checked.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = ["code": code.description]
        // Foundation on Linux asks a `CustomNSError` for these texts here, and not as a `LocalizedError`.
        info[NSLocalizedDescriptionKey] = errorDescription
        info[NSLocalizedFailureReasonErrorKey] = failureReason
        info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        info["httpStatus"] = httpStatus
        info["request"] = request?.description
        return info
    }
}

extension HTTPClientError: LocalizedError {
    /// What happened, with which host, and why.
    public var errorDescription: String? { description }

    /// What to look at or change, where the library knows.
    public var recoverySuggestion: String? { hint }
}

extension DecodingFailure: LocalizedError {
    /// Where and why, without the value.
    public var errorDescription: String? { summary }

    /// The ``hint``.
    public var recoverySuggestion: String? { hint }
}

extension EncodingFailure: LocalizedError {
    /// Place and reason, without the value.
    public var errorDescription: String? { description }
}

extension DataAPI.FindError: LocalizedError {
    /// What is wrong, and the smallest example of it.
    public var errorDescription: String? { description }
}

extension DataAPI.ContainerError: LocalizedError {
    /// What is wrong, without the value of the field.
    public var errorDescription: String? { description }

    /// What to look at or change, where the library knows.
    public var recoverySuggestion: String? { hint }
}

extension DataAPI.SaveConflict: LocalizedError {
    /// What stands against the save, by the names of fields and portals.
    public var errorDescription: String? { description }
}

extension DataAPI.WriteJournalError: LocalizedError {
    /// What is wrong with the journal, without a field's value.
    public var errorDescription: String? { description }

    /// What to do about it, where the library knows.
    public var recoverySuggestion: String? { FMRest.APIError(self).hint }
}

extension DataAPI.WriteJournalError.Reason: LocalizedError {
    /// The reason in a few words.
    public var errorDescription: String? { description }
}

extension FMRest.ContainerFileError: LocalizedError {
    /// What is wrong.
    public var errorDescription: String? { description }
}

extension ValueFormat.PatternError: LocalizedError {
    /// The pattern and what is wrong with it.
    public var errorDescription: String? { description }
}
