import FMHTTP
package import Logging
import NIOCore

/// The names of what this layer logs. ``DataAPI/Config/logger`` lists all names for users.
extension LogKey {
    static let database = "fm.database"
    static let layout = "fm.layout"
    static let operation = "fm.operation"
    static let record = "fm.record"
    static let attempt = "fm.attempt"
    static let session = "fm.session"
    package static let code = "fm.code"
    static let tag = "fm.tag"
    package static let reason = "reason"
    package static let rows = "rows"
    package static let pause = "pause_ms"
    // The pool of sessions.
    static let sessions = "sessions"
    static let loggingIn = "logging_in"
    static let waiting = "waiting"
    static let limit = "limit"
    static let skew = "skew_s"
    // Work of many calls.
    package static let delivered = "delivered"
    package static let total = "total"
    package static let drift = "drift"
    package static let places = "places"
    package static let records = "records"
    package static let created = "created"
    package static let updated = "updated"
    package static let deleted = "deleted"
    package static let failed = "failed"
    package static let unknown = "unknown"
    package static let skipped = "skipped"
    package static let wokenBy = "woken_by"
    package static let hostWork = "work_ms"
    // The meter of transferred bytes.
    static let percent = "percent"
    static let bytes = "bytes"
}

extension Logger.Metadata {
    /// Adds what a failure is, without values: its kind, FileMaker's code, the status, and the reason in words.
    package mutating func add(_ error: FMRest.APIError) {
        self[LogKey.error] = "\(error.code)"
        addCodes(of: error)
        self[LogKey.reason] = "\(error.reason.prefix(300))"
    }

    /// Adds FileMaker's code and the status of the answer, as far as there was one.
    mutating func addCodes(of error: FMRest.APIError) {
        self[LogKey.code] = error.fileMakerCode.map { "\($0.rawValue)" }
        self[LogKey.status] = error.httpStatus.map { "\($0)" } ?? self[LogKey.status]
    }
}

extension TimeAmount {
    /// The time in milliseconds, with three places.
    package var logged: Logger.MetadataValue { "\(Double(nanoseconds / 1000) / 1000)" }
}
