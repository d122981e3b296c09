import Foundation

/// A recording that cannot be written or read.
public struct RecordingError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, with the file or the folder.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// The folder of a recording.
struct RecordingFolder: Sendable {
    let url: URL

    /// The files of the exchanges, in order.
    func files() throws(RecordingError) -> [URL] {
        do {
            return try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
                .compactMap { file in
                    file.lastPathComponent.wholeMatch(of: /([0-9]{4,})-.*\.json/)
                        .flatMap { match in Int(match.1).map { (number: $0, file: file) } }
                }
                .sorted { $0.number < $1.number }
                .map(\.file)
        } catch {
            throw RecordingError("The folder \(url.path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Makes the folder, if it does not exist.
    func make() throws(RecordingError) {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw RecordingError("The folder \(url.path) cannot be made: \(error.localizedDescription)")
        }
    }

    func write(_ text: String, to name: String) throws(RecordingError) {
        let file = url.appendingPathComponent(name)
        do {
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch {
            throw RecordingError("\(file.path) cannot be written: \(error.localizedDescription)")
        }
    }
}
