import Foundation

/// The folder below which control commands may write. They come from another program, which may be wrong about where it is, or
/// wronger about where it may write: files elsewhere on the machine are none of its business.
struct WritableFolder {
    private let path: String

    /// What is wrong with a folder that a command names.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter path: nil is the folder in which the program was started.
    init(_ path: String? = nil) {
        let manager = FileManager.default
        self.path = URL(fileURLWithPath: path ?? manager.currentDirectoryPath, isDirectory: true).path
    }

    /// A folder below this one, or this one itself: a relative path starts here.
    func folder(_ name: String) throws(Failure) -> URL {
        let folder = URL(
            fileURLWithPath: name,
            isDirectory: true,
            relativeTo: URL(fileURLWithPath: path, isDirectory: true)
        )
        // A step up is not followed at all: where it leads depends on links that may be made later.
        guard !name.split(separator: "/").contains(".."),
            Self.components(folder.path).starts(with: Self.components(path))
        else { throw Failure(description: "cannot save into \(name): only below \(path)") }
        return folder.absoluteURL
    }

    /// The parts of a path without links, as far as there is such a folder already.
    private static func components(_ path: String) -> [String] {
        var existing = URL(fileURLWithPath: path).standardizedFileURL
        var missing: [String] = []
        while true {
            if let real = realpath(existing.path, nil) {
                defer { free(real) }
                return String(cString: real).split(separator: "/").map(String.init) + missing.reversed()
            }
            guard existing.path != "/", !existing.path.isEmpty else { return missing.reversed() }
            missing.append(existing.lastPathComponent)
            existing = existing.deletingLastPathComponent()
        }
    }
}
