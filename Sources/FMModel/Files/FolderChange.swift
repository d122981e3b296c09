package import Foundation

/// What is to become of the files of one folder.
///
/// All new files are written beside their places first, and get there, each in one step, when all of them are on the disk. Files
/// are removed at the very end. Whatever fails while they are written leaves the folder as it was.
package struct FolderChange: Equatable, Sendable {
    /// Texts by the names of files; files that hold them already are not touched.
    package var texts: [String: String] = [:]
    /// Files that go.
    package var removed: [String] = []

    package init() {}

    /// Makes the folder if it is not there, and the change in it.
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
                // Without the name that it is for, which may be as long as a disk allows.
                let temporary = folder.appendingPathComponent(".fmdata.\(UUID().uuidString).new")
                let place = folder.appendingPathComponent(name)
                waiting.append((temporary, place))
                try FileError.telling("write \(place.path)") { try Data(text.utf8).write(to: temporary) }
            }
            while let (temporary, place) = waiting.last {
                try FileError.telling("write \(place.path)") { try Self.rename(temporary, to: place) }
                waiting.removeLast()
            }
        } catch {
            for (temporary, _) in waiting { try? manager.removeItem(at: temporary) }
            throw error
        }
        for name in removed {
            let place = folder.appendingPathComponent(name)
            try FileError.telling("remove \(place.path)") { try manager.removeItem(at: place) }
        }
    }

    /// In one step: whoever looks finds the old file or the new one.
    private static func rename(_ source: URL, to place: URL) throws {
        guard Foundation.rename(source.path, place.path) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }
}

/// Reading the files of a folder.
enum SourceFiles {
    /// The text of a file; `nil` when there is none.
    static func text(of name: String, in folder: URL) throws -> String? {
        let file = folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return String(decoding: try data(of: name, in: folder), as: UTF8.self)
    }

    /// The bytes of a file that is there.
    static func data(of name: String, in folder: URL) throws -> Data {
        let file = folder.appendingPathComponent(name)
        return try FileError.telling("read \(file.path)") { try Data(contentsOf: file) }
    }

    /// The names of the files with an extension, sorted; none when there is no such folder.
    static func names(in folder: URL, withExtension type: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let names = try FileError.telling("read \(folder.path)") {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
        }
        return names.filter { $0.hasSuffix(".\(type)") && !$0.hasPrefix(".") }
            .sorted { ExactName($0) < ExactName($1) }
    }
}
