package import Foundation

/// The changes to make to the files of one folder.
///
/// All new files are first written under temporary names. When all of them are on the disk, each is renamed in one
/// step. Files are removed last, except those that only change the case of their name. An error while the files are
/// written leaves the folder as it was.
package struct FolderChange: Equatable, Sendable {
    /// Texts by file name. Files that have the same text already are not touched.
    package var texts: [String: String] = [:]
    /// The names of files to remove.
    package var removed: [String] = []

    package init() {}

    /// Creates the folder if it does not exist, and makes the changes.
    package func apply(to folder: URL) throws {
        let manager = FileManager.default
        let texts = try texts.filter { try SourceFiles.text(of: $0.key, in: folder) != $0.value }
        guard !texts.isEmpty || !removed.isEmpty else { return }
        try FileError.telling("make the folder \(folder.path)") {
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        var waiting: [(temporary: URL, place: URL)] = []
        do {
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
                // The temporary name does not contain the file's name, which may be as long as the disk allows.
                let temporary = folder.appendingPathComponent(".fmdata.\(UUID().uuidString).new")
                let place = folder.appendingPathComponent(name)
                waiting.append((temporary, place))
                try FileError.telling("write \(place.path)") { try Data(text.utf8).write(to: temporary) }
            }
            for name in removed where isWritten(name) { try remove(name, from: folder) }
            while let (temporary, place) = waiting.last {
                try FileError.telling("write \(place.path)") { try Self.rename(temporary, to: place) }
                waiting.removeLast()
            }
        } catch {
            for (temporary, _) in waiting { try? manager.removeItem(at: temporary) }
            throw error
        }
        for name in removed where !isWritten(name) { try remove(name, from: folder) }
    }

    /// Whether a file is written whose name differs in case alone. On a disk that ignores case they are one file, so
    /// the old one is removed first.
    private func isWritten(_ name: String) -> Bool { texts.keys.contains { $0.lowercased() == name.lowercased() } }

    private func remove(_ name: String, from folder: URL) throws {
        let place = folder.appendingPathComponent(name)
        try FileError.telling("remove \(place.path)") { try FileManager.default.removeItem(at: place) }
    }

    /// Renames a file in one step, so that readers find either the old file or the new one.
    private static func rename(_ source: URL, to place: URL) throws {
        guard Foundation.rename(source.path, place.path) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }
}

/// Reads the files of a folder.
enum SourceFiles {
    /// The text of a file; `nil` if it does not exist.
    static func text(of name: String, in folder: URL) throws -> String? {
        let file = folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return String(decoding: try data(of: name, in: folder), as: UTF8.self)
    }

    /// The bytes of an existing file.
    static func data(of name: String, in folder: URL) throws -> Data {
        let file = folder.appendingPathComponent(name)
        return try FileError.telling("read \(file.path)") { try Data(contentsOf: file) }
    }

    /// The names of the files with an extension, sorted; none if the folder does not exist.
    static func names(in folder: URL, withExtension type: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let names = try FileError.telling("read \(folder.path)") {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
        }
        return names.filter { $0.hasSuffix(".\(type)") && !$0.hasPrefix(".") }
            .sorted { SchemaName($0) < SchemaName($1) }
    }
}
