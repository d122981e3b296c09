import FMHTTP
import Logging
import NIOCore

/// The names of what this layer logs. ``DataAPI/Config/logger`` lists all names for users.
extension LogKey {
    static let database = "fm.database"
    static let layout = "fm.layout"
    static let operation = "fm.operation"
    static let record = "fm.record"
    static let attempt = "fm.attempt"
    static let session = "fm.session"
    static let code = "fm.code"
    static let tag = "fm.tag"
    static let reason = "reason"
    static let rows = "rows"
    static let pause = "pause_ms"
    // The pool of sessions.
    static let sessions = "sessions"
    static let loggingIn = "logging_in"
    static let waiting = "waiting"
    static let limit = "limit"
    static let skew = "skew_s"
    // Work of many calls.
    static let delivered = "delivered"
    static let total = "total"
    static let drift = "drift"
    static let places = "places"
    static let records = "records"
    static let created = "created"
    static let updated = "updated"
    static let deleted = "deleted"
    static let failed = "failed"
    static let unknown = "unknown"
    static let skipped = "skipped"
    static let wokenBy = "woken_by"
    static let hostWork = "work_ms"
    // The meter of transferred bytes.
    static let percent = "percent"
    static let bytes = "bytes"
}

extension Logger.Metadata {
    /// Adds what a failure is, without values: its kind, FileMaker's code, the status, and the reason in words.
    mutating func add(_ error: FMRest.APIError) {
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
    var logged: Logger.MetadataValue { "\(Double(nanoseconds / 1000) / 1000)" }
}
