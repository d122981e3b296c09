import Foundation
import Logging

/// The log of the library: from `debug` on to standard error, and everything to a file.
struct CommandLog: LogHandler {
    let isVerbose: Bool
    let file: FileHandle?

    var metadataProvider: Logger.MetadataProvider?
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    init(isVerbose: Bool, file: FileHandle?) {
        self.isVerbose = isVerbose
        self.file = file
        logLevel = file == nil ? .debug : .trace
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        if isVerbose, event.level >= .debug {
            let facts = values.map { " \($0.key)=\($0.value)" }.joined()
            note("\(event.level): \(event.message)\(facts)")
        }
        guard let file else { return }
        let members = values.map { OutputValue.Member(name: $0.key, value: .text("\($0.value)")) }
        let now = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let line: OutputValue = .object(
            [
                .init(name: "time", value: .text(now)), .init(name: "level", value: .text("\(event.level)")),
                .init(name: "message", value: .text("\(event.message)")),
            ] + members
        )
        // One call of the system for each line, so that lines of several threads do not mix.
        try? file.write(contentsOf: Data("\(line.json)\n".utf8))
    }
}
