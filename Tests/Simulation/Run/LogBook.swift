import Logging

/// Receives the client's log, and checks it for secrets.
final class LogBook: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private let trace: Trace
    private(set) var findings: [String] = []

    init(_ trace: Trace) { self.trace = trace }

    var logger: Logger {
        var logger = Logger(label: "simulation") { _ in Handler(book: self) }
        logger.logLevel = .trace
        return logger
    }

    /// Reports a password, a token or the value of a field in a text.
    func checkSecrets(_ text: String) {
        let secret: String? =
            if Self.holds(text, HostPlan.password) {
                "the password"
            } else if Self.holds(text, HostPlan.secret) {
                "the value of a field"
            } else if Self.holdsToken(text) {
                "a token"
            } else {
                nil
            }
        if let secret { findings.append("\(secret) is in a text: \(text)") }
    }

    /// Like `contains`, which compares characters: that is slow, and every error is checked.
    private static func holds(_ text: String, _ part: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in bytes.indices.contains { bytes[$0...].starts(with: part.utf8) } }
    }

    /// Tokens of the sandbox are 52 hexadecimal digits; no other text has so many.
    private static func holdsToken(_ text: String) -> Bool {
        var length = 0
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: length += 1
            default: length = 0
            }
            if length >= 40 { return true }
        }
        return false
    }

    private struct Handler: LogHandler {
        let book: LogBook
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let text =
                "\(event.message) "
                + all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            book.checkSecrets(text)
            book.trace.note { "log: \(text)" }
        }
    }
}
