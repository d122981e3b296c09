import ArgumentParser
import FMModel
import Foundation

/// The names of layouts, fields and scripts of a database that commands have seen, for completion. The next command
/// may have seen others: nothing but completion relies on them.
struct KnownNames: Equatable, Codable {
    var layouts: [String] = []
    /// The fields beside and in the portals, by layout.
    var fields: [String: [String]] = [:]
    var scripts: [String] = []

    /// The file of the names of all databases, by host and database.
    static func file(_ folders: UserFolders) -> URL { folders.cache.appendingPathComponent("names.json") }

    private static func key(_ place: Place) -> String? {
        place.host.flatMap { host in place.database.map { "\(host)/\($0)" } }
    }

    private static func read(_ file: URL) -> [String: KnownNames] {
        guard let content = try? PrivateFile(file).read() else { return [:] }
        return (try? JSONDecoder().decode([String: KnownNames].self, from: content)) ?? [:]
    }

    /// The names of a place's database.
    init(of place: Place, in file: URL) { self = Self.key(place).flatMap { Self.read(file)[$0] } ?? KnownNames() }

    init() {}

    /// Changes the names of a place's database, if its user keeps files of the command anyway.
    static func learn(at place: Place, _ change: (inout KnownNames) -> Void) {
        guard let key = key(place), place.keepsFiles else { return }
        let file = file(UserFolders(environment: ProcessInfo.processInfo.environment))
        var all = read(file)
        var names = all[key] ?? KnownNames()
        change(&names)
        guard names != all[key] else { return }
        all[key] = names
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Completion is worth no error.
        guard let content = try? encoder.encode(all) else { return }
        try? PrivateFile(file).write(content)
    }
}

extension KnownNames {
    /// The names that completion offers for a command line: those of the snapshot in this folder, and those that
    /// commands have seen of the database that the line means.
    init(forLine words: [String]) {
        let folder = ModelFolder(URL(fileURLWithPath: ".", isDirectory: true))
        if let snapshot = try? folder.snapshot() {
            for layout in snapshot.layouts {
                layouts.append(layout.layout)
                let portals = layout.portals.flatMap(\.fields)
                fields[layout.layout] = (layout.fields + portals).map(\.description.name)
            }
        }
        let environment = ProcessInfo.processInfo.environment
        var options: [String] = []
        for name in ["--profile", "--host", "--database"] {
            guard let index = words.lastIndex(of: name), index + 1 < words.count else { continue }
            options += [name, words[index + 1]]
        }
        guard let connection = try? ConnectionOptions.parse(options),
            let place = try? Place(connection, environment: environment, complain: { _ in })
        else { return }
        let seen = KnownNames(of: place, in: Self.file(UserFolders(environment: environment)))
        layouts += seen.layouts.filter { !layouts.contains($0) }
        fields.merge(seen.fields) { known, _ in known }
        scripts = seen.scripts
    }

    /// The fields of the layout that a command line names.
    func fields(forLine words: [String]) -> [String] {
        words.lazy.compactMap { fields[$0] }.first ?? []
    }
}
