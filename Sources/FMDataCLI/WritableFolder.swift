import Foundation

/// The folder below which control commands may write. The commands come from another program, which may have a wrong
/// path or wrong intentions, so no files elsewhere on the machine may be written.
struct WritableFolder {
    private let path: String

    /// The error for a folder that a command names.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter path: The folder; nil is the folder in which the program was started.
    init(_ path: String? = nil) {
        let manager = FileManager.default
        self.path = URL(fileURLWithPath: path ?? manager.currentDirectoryPath, isDirectory: true).path
    }

    /// A folder below this one, or this one itself. A relative path starts here. Throws for any other folder.
    func folder(_ name: String) throws(Failure) -> URL {
        let folder = URL(
            fileURLWithPath: name,
            isDirectory: true,
            relativeTo: URL(fileURLWithPath: path, isDirectory: true)
        )
        // `..` is always refused: its target depends on links that may be made later.
        guard !name.split(separator: "/").contains(".."),
            Self.components(folder.path).starts(with: Self.components(path))
        else { throw Failure(description: "cannot save into \(name): only below \(path)") }
        return folder.absoluteURL
    }

    /// The components of a path with links resolved, as far as the path exists.
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
