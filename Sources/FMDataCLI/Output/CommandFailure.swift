import ArgumentParser
import FMData
import FMModel
import Foundation

/// The error that ends a command's work.
struct CommandFailure {
    private let error: any Error

    init(_ error: any Error) {
        guard let failure = error as? FMRest.APIError else {
            self.error = error
            return
        }
        // What the command itself has thrown where the library wanted something: a password, the content of a file.
        switch failure.underlying {
        case let own as CommandError: self.error = own
        case let own as ValidationError: self.error = own
        case let own as FileError: self.error = own
        default:
            // The request could not be sent: for example an invalid host, or plain HTTP to another machine.
            let isUsage = failure.code == .invalidRequest && failure.httpStatus == nil
            self.error = isUsage ? ValidationError(failure.reason(withHint: true)) : failure
        }
    }

    /// Ends the command: throws the error, or says what failed and throws the status.
    func end(asJSON: Bool) throws -> Never {
        if error is StandardOutput.ReaderGone { throw ExitStatus.readerGone.code }
        if asJSON, let json {
            note(json)
            throw status.code
        }
        guard let error = error as? FMRest.APIError else { throw error }
        note("Error: \(ErrorText(error))")
        if error.outcomeIsUnknown {
            note("It was not sent again. Look whether it was carried out before you send it once more.")
        }
        throw status.code
    }

    /// The status that the command ends with.
    var status: ExitStatus {
        switch error {
        case let error as FMRest.APIError: ExitStatus(error)
        case let error as CommandError: error.status
        case is ValidationError: .usage
        default: .failed
        }
    }

    /// The error as JSON; nil if it only carries a status.
    var json: String? { object.map { (["error": $0] as OutputValue).json } }

    /// The error for programs; nil if it only carries a status.
    private var object: OutputValue? {
        switch error {
        case let error as FMRest.APIError:
            let request = error.request.map { "\($0.method) \($0.path)" }
            func names(_ names: [String]) -> OutputValue? { names.isEmpty ? nil : .texts(names) }
            return [
                "kind": .text("\(error.code)"),
                "code": error.fileMakerCode.map { .int($0.rawValue) },
                "message": .text(error.reason(withHint: false)),
                "hint": ErrorText.hint(for: error).map(OutputValue.text),
                "httpStatus": error.httpStatus.map(OutputValue.int),
                "request": request.map(OutputValue.text),
                "layout": error.request?.name(after: "layouts").map(OutputValue.text),
                "recordId": error.request?.name(after: "records").flatMap(Int.init).map(OutputValue.int),
                "fields": names(error.fields),
                "layouts": names(error.layouts),
                "scripts": names(error.scripts),
                "outcomeUnknown": .bool(error.outcomeIsUnknown),
                "status": .int(Int(status.rawValue)),
            ]
        case is ExitCode, is CancellationError: return nil
        case let error as ValidationError: return simple("usage", error.message)
        default: return simple(status == .usage ? "usage" : "command", "\(error)")
        }
    }

    private func simple(_ kind: String, _ message: String) -> OutputValue {
        ["kind": .text(kind), "message": .text(message), "status": .int(Int(status.rawValue))]
    }
}

extension FMRest.APIError {
    /// What failed, with the advice or without it, in the words of the command.
    fileprivate func reason(withHint: Bool) -> String {
        [ErrorText.reason(of: self), withHint ? ErrorText.hint(for: self) : nil].compactMap(\.self)
            .joined(separator: " ")
    }
}

extension FMRest.APIError.RequestSummary {
    /// The name that follows a word of the path, as `Contacts` in `/databases/Club/layouts/Contacts/records/7`.
    func name(after word: String) -> String? {
        let parts = path.split(separator: "/")
        // Words and names take turns: a layout may be called "records".
        let index = stride(from: 0, to: parts.count - 1, by: 2).first { parts[$0] == word }
        return index.flatMap { parts[$0 + 1].removingPercentEncoding }
    }
}
