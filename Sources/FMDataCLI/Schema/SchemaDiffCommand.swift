import ArgumentParser
import FMData
import FMModel

/// `fmdata schema diff`: in what the host differs from the snapshot. It writes nothing.
struct SchemaDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Says in what the layouts on the host differ from the snapshot.",
        discussion: """
            In words first, then line by line. What may break a program that was made for the snapshot is marked. The status \
            is 3 when something differs.
            """
    )

    @OptionGroup var options: SchemaOptions

    @Flag(help: "Print a JSON list of the changes instead.")
    var json = false

    func run() async throws {
        let database = try options.connection.open()
        let result: Result<Void, any Error>
        do {
            result = .success(try await compare(database))
        } catch {
            result = .failure(error)
        }
        _ = await database.server.shutdown().awaitSingleResult()
        try result.orExit()
    }

    private func compare(_ database: DataAPI.Database) async throws {
        let snapshot = try options.folder.folder.snapshot()
        let names = try options.names(known: snapshot.layouts.map(\.layout))
        let answer = try await SchemaReader(database: database).read(names)
        var known = snapshot.layouts
        for (layout, error) in answer.failures {
            // A layout of the snapshot that is gone is a difference; one that was asked for by name is a mistake.
            guard (error as? FMRest.APIError)?.fileMakerCode == .layoutMissing,
                known.contains(where: { ExactName($0.layout) == ExactName(layout) })
            else {
                note("\(layout): \(error)")
                throw ExitStatus(error).code
            }
        }
        let update = LayoutSnapshot.updating(known, with: answer.layouts, prefixes: snapshot.settings.prefixes)
        let gone = Set(answer.failures.map { ExactName($0.layout) })
        var current = update.layouts.filter { !gone.contains(ExactName($0.layout)) }
        if let names = names.map({ Set($0.map(ExactName.init)) }) {
            known.removeAll { !names.contains(ExactName($0.layout)) }
            current.removeAll { !names.contains(ExactName($0.layout)) }
        }
        try print(Self.report(known, current, in: snapshot, json: json), terminator: "")
        if known != current { throw ExitStatus.different.code }
    }

    /// - Parameter json: whether a program is to read it.
    static func report(
        _ old: [LayoutSnapshot],
        _ new: [LayoutSnapshot],
        in snapshot: SnapshotFolder,
        json: Bool
    ) throws -> String {
        let report = SchemaReport(SchemaChange.changes(from: old, to: new))
        if json { return try report.json() + "\n" }
        guard old != new else { return "" }
        let (before, now) = (snapshot.change(to: old).texts, snapshot.change(to: new).texts)
        let lines = Set(before.keys).union(now.keys).sorted().map { file in
            LineDifference("\(ModelFolder.snapshotName)/\(file)", old: before[file], new: now[file]).text
        }
        return report.text + "\n" + lines.joined()
    }
}
