public import Logging

/// Collects the lines of a logger, for tests: one text per line, `debug call finished|fm.code=0 http.method=GET`, with
/// the keys in order.
public final class LogLines: Sendable {
    private let lines = Locked<[String]>([])

    /// Creates an empty collection.
    public init() {}

    /// All lines so far.
    public var all: [String] { lines.value }
    /// The parts before the bar.
    public var messages: [String] { all.map { String($0.prefix { $0 != "|" }) } }

    /// Returns a logger with this level, whose lines are collected.
    public func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in Handler(lines: self.lines) }
        logger.logLevel = level
        return logger
    }

    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
            let text = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            lines.change { $0.append("\(event.level) \(event.message)|\(text)") }
        }
    }
}
