import ArgumentParser
import FMData
import FMModel

/// `fmdata schema diff`: shows how the host differs from the snapshot. It writes nothing.
struct SchemaDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Says in what the layouts on the host differ from the snapshot.",
        discussion: """
            In words first, then line by line. What may break a program that was made for the snapshot is marked. The status \
            is 3 when something differs. With --all a layout that cannot be read is told with the reason and not compared; then \
            the status is 2 when nothing else differs.
            """
    )

    @OptionGroup var options: SchemaOptions

    @Flag(help: "Print a JSON list of the changes instead.")
    var json = false

    func run() async throws {
        try await HostVisit.make(with: options.connection, options.talk) { visit in
            try await compare(try await SchemaReader(visit))
        }
    }

    private func compare(_ reader: SchemaReader) async throws {
        let snapshot = try options.folder.folder.snapshot()
        let choice = try options.choice(known: snapshot.layouts.map(\.layout))
        let answer = try await reader.read(choice)
        var known = snapshot.layouts
        // Layouts that were not read are not compared.
        var ignored = Set(answer.leftOut.map(SchemaName.init))
        var gone: Set<SchemaName> = []
        for (layout, error) in answer.failures {
            // A layout of the snapshot that no longer exists is a difference. An unknown layout named by the user is an
            // error.
            if error.fileMakerCode == .layoutMissing,
                known.contains(where: { SchemaName($0.layout) == SchemaName(layout) })
            {
                gone.insert(SchemaName(layout))
                continue
            }
            note("\(layout): \(ErrorText(error))")
            guard options.all, !answer.layouts.isEmpty else { throw ExitStatus(error).code }
            ignored.insert(SchemaName(layout))
        }
        let update = LayoutSnapshot.updating(known, with: answer.layouts, prefixes: snapshot.settings.prefixes)
        let asked = Set(answer.asked.map(SchemaName.init))
        // With `--all`, layouts of the snapshot that are not in the host's list were removed, too.
        if options.all { gone.formUnion(known.map { SchemaName($0.layout) }.filter { !asked.contains($0) }) }
        if !options.all { ignored.formUnion(known.map { SchemaName($0.layout) }.filter { !asked.contains($0) }) }
        var current = update.layouts.filter { !gone.contains(SchemaName($0.layout)) }
        known.removeAll { ignored.contains(SchemaName($0.layout)) }
        current.removeAll { ignored.contains(SchemaName($0.layout)) }
        try print(Self.report(known, current, in: snapshot, json: json), terminator: "")
        if known != current { throw ExitStatus.different.code }
        if answer.failures.contains(where: { !gone.contains(SchemaName($0.layout)) }) {
            throw ExitStatus.incomplete.code
        }
    }

    /// - Parameter json: Whether the report is JSON, for programs.
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
