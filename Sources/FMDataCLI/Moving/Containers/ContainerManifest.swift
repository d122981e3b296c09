import FMModel
import Foundation

/// The list of the files in a folder of exported containers: a JSON object per line. The last one of a record counts.
struct ContainerManifest {
    /// What is known of the container of one record.
    struct Entry: Codable, Equatable, Sendable {
        var recordId: Int
        /// The version of the record in which the container had this content.
        var modId: Int
        /// The value of the key, by which the record is found elsewhere.
        var key: String?
        /// The name of the file in the folder; nil if the container is empty.
        var file: String?
        /// The name of the file in the container.
        var fileName: String?
        var type: String?
        var byteCount: Int?
        /// SHA-256 as hexadecimal digits.
        var sha256: String?
    }

    static let name = "manifest.ndjson"

    let folder: URL
    private(set) var entries: [Int: Entry] = [:]
    private var log: FileHandle?

    private var path: String { folder.appendingPathComponent(Self.name).path }

    /// Reads the list of a folder.
    ///
    /// - Parameter mustExist: Whether a folder without a list is an error.
    init(of folder: URL, mustExist: Bool) throws {
        self.folder = folder
        guard mustExist || FileManager.default.fileExists(atPath: path) else { return }
        let path = path
        let content = try FileError.telling("read \(path)") { try Data(contentsOf: URL(fileURLWithPath: path)) }
        let lines = content.split(separator: UInt8(ascii: "\n"))
        for (number, line) in lines.enumerated() {
            guard let entry = try? JSONDecoder().decode(Entry.self, from: line) else {
                // A killed export may have written a part of its last line.
                if number == lines.count - 1, content.last != UInt8(ascii: "\n") { break }
                throw CommandError("\(path), line \(number + 1): expected an entry of fmdata containers export.")
            }
            entries[entry.recordId] = entry
        }
    }

    /// The file of an entry; nil if its name leads out of the folder.
    func path(of entry: Entry) -> String? {
        guard let file = entry.file, !file.isEmpty, !file.contains("/"), file != "..", file != "." else { return nil }
        return folder.appendingPathComponent(file).path
    }

    /// Adds an entry, which outlives a kill.
    mutating func add(_ entry: Entry) throws {
        if log == nil {
            try rewrite()
            let path = path
            log = try FileError.telling("write \(path)") {
                let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
                guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                return FileHandle(fileDescriptor: file, closeOnDealloc: true)
            }
        }
        entries[entry.recordId] = entry
        let line = try Self.line(entry)
        try FileError.telling("write \(path)") { try log?.write(contentsOf: Data(line.utf8)) }
    }

    /// Writes the list with one line for each record.
    func rewrite() throws {
        let file = try PartFile(path, replaces: true)
        for entry in entries.values.sorted(by: { $0.recordId < $1.recordId }) { try file.write(Self.line(entry)) }
        try file.finish()
    }

    private static func line(_ entry: Entry) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(entry), as: UTF8.self) + "\n"
    }
}
