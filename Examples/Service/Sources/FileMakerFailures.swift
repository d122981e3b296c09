import FMData
import Hummingbird
import Logging

/// Turns errors of FileMaker into answers of HTTP. The log has the whole error, with the id of the request; visitors
/// get what they can act on, and no number of FileMaker's.
struct FileMakerFailures: RouterMiddleware {
    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as FMRest.APIError {
            let answer = HTTPError(error)
            context.logger.log(
                level: answer.status.code < 500 ? .info : .warning,
                "FileMaker did not do it",
                metadata: ["error": "\(error)", "status": "\(answer.status.code)"]
            )
            throw answer
        }
    }
}

extension HTTPError {
    init(_ error: FMRest.APIError) {
        switch error.fileMakerCode {
        case .recordMissing?, .noRecordsMatch?:
            self.init(.notFound, message: "There is no such record.")
        case .modIdMismatch?, .recordModifiedElsewhere?:
            self.init(.conflict, message: "Somebody else has changed the record. Read it again.")
        case .recordInUse?:
            self.init(.conflict, message: "Somebody else is editing the record. Try again later.")
        case let code? where code.category == .validation:
            let fields = error.fields.joined(separator: ", ")
            self.init(.unprocessableContent, message: "A value is not allowed. Fields: \(fields)")
        default:
            self.init(withoutAnswer: error)
        }
    }

    /// The host is full, locked, silent or gone, it refuses the service's account, or the request was wrong.
    private init(withoutAnswer error: FMRest.APIError) {
        if error.outcomeIsUnknown {
            // Not to be tried again blindly, so there is no Retry-After.
            self.init(.badGateway, message: "It is not known whether the change was made. Read the record again.")
        } else if let wait = error.timeToWait {
            self.init(.serviceUnavailable, headers: [.retryAfter: "\(wait)"], message: "Try again later.")
        } else {
            self.init(.internalServerError, message: "This did not work.")
        }
    }
}

extension FMRest.APIError {
    /// The seconds after which another attempt makes sense; `nil` if none does.
    fileprivate var timeToWait: Int64? {
        if let retryAfter { return max(1, retryAfter.components.seconds) }
        // Too many wrong passwords: the host lets nobody in for some minutes.
        if fileMakerCode == .tooManyLoginAttempts { return 300 }
        // Refused accounts or certificates are for the operator: another instance may have better ones.
        if fileMakerCode?.category == .account || [.unauthorized, .tls, .notDataAPI].contains(code) { return 60 }
        return isRetryable || [.network, .timeout, .tokensRefused, .shutdown].contains(code) ? 5 : nil
    }
}
