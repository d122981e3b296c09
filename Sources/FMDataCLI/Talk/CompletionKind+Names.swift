import ArgumentParser
import Foundation

// Completion reads files of the user and of this folder, and never asks a host.
extension CompletionKind {
    /// The names of the user's profiles.
    static var profiles: CompletionKind {
        .custom { _, _, _ in
            let folders = UserFolders(environment: ProcessInfo.processInfo.environment)
            return (try? Profiles(contentsOf: folders.profiles))?.byName.keys.sorted() ?? []
        }
    }

    /// The layouts that are known here.
    static var layouts: CompletionKind { .names { names, _ in names.layouts } }

    /// The scripts that are known here.
    static var scripts: CompletionKind { .names { names, _ in names.scripts } }

    /// The fields of the layout in the line.
    static var fields: CompletionKind { .names { names, line in names.fields(forLine: line) } }

    /// The fields of the layout in the line, each with what stands behind it: `=`.
    static func fields(_ sign: String) -> CompletionKind {
        .names { names, line in names.fields(forLine: line).map { $0 + sign } }
    }

    private static func names(_ choose: @escaping @Sendable (KnownNames, [String]) -> [String]) -> CompletionKind {
        .custom { line, _, _ in
            // Shells pass words as they were typed.
            let words = line.map { $0.filter { !["\"", "'", "\\"].contains($0) } }
            return choose(KnownNames(forLine: words), words).sorted()
        }
    }
}
