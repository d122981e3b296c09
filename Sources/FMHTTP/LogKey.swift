/// The names of the metadata in the log, the same in every line. Here are those of the HTTP client; the layer above
/// adds its own in an extension and documents all of them.
package enum LogKey {
    package static let origin = "origin"
    package static let method = "http.method"
    package static let path = "http.path"
    package static let status = "http.status"
    package static let httpRequest = "http.request"
    package static let httpAttempt = "http.attempt"
    package static let httpConnection = "http.connection"
    package static let error = "error"
    package static let outcome = "outcome"
    package static let bytesIn = "bytes_in"
    package static let wireBytesIn = "wire_bytes_in"
    package static let bytesOut = "bytes_out"
    package static let duration = "duration_ms"
    package static let waited = "waited_ms"
    package static let validUntil = "valid_until"
}
