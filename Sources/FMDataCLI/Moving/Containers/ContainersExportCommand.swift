import ArgumentParser
import FMData
import FMModel
import Foundation

/// `fmdata containers export`: the files of containers into a folder.
struct ContainersExportCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the files in the containers of records into a folder, with a list of their checksums.",
        discussion: """
            A file is named by the record's id and its name in the container; manifest.ndjson lists all, with SHA-256. What is \
            there already in the version of the record is not fetched again, so the same command goes on after a kill, and \
            fetches what has changed later on. The status is 2 if some could not be fetched.
            """
    )

    @OptionGroup var found: FoundSetOptions
    @OptionGroup var container: ContainerFieldOptions

    @Option(help: ArgumentHelp("The folder; it is made if there is none.", valueName: "folder"), completion: .directory)
    var into: String

    @Option(
        help: ArgumentHelp("A field that identifies the record elsewhere, to put the files there.", valueName: "field")
    )
    var key: String?

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try found.checkOptions()
        try await visit { visit in
            let layout = try await visit.openForReading().addLayout(found.layout)
            let fields = try await layout.fields()
            try container.check(fields)
            if let key { _ = try fields.known(key) }
            let folder = URL(fileURLWithPath: into, isDirectory: true)
            try FileError.telling("make the folder \(into)") {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            try await export(layout, fields, to: try ContainerManifest(of: folder, mustExist: false), visit)
        }
    }

    private func export(
        _ layout: DataAPI.Layout,
        _ fields: LayoutFields,
        to list: ContainerManifest,
        _ visit: HostVisit
    ) async throws {
        var list = list
        let (known, folder, key) = (list, list.folder, key)
        let keys = LockedValue<[Int: String]>([:])
        let typed = layout.of(AnyFields.self)
        let records = (try found.find(fields).map(typed.find) ?? typed.allRecords)
            .sorted(by: try found.order(fields)).portals([])
        let files = records.containers(
            AnyFields.CodingKeys(stringValue: container.field),
            repetition: container.repetition,
            toFiles: { record in
                if let key { keys.change { $0[record.recordId] = record.fieldData.data[key]?.text } }
                return Self.draft(of: record.recordId, in: folder)
            },
            skipping: { Self.isThere(known.entries[$0.recordId], modId: $0.modId, key: key, of: $0, in: known) },
            onProgress: { progress in
                ProgressLine.shared.report(progress.completedRecords, of: progress.totalRecords, "records")
            },
            isolation: nil
        )
        let printer = printer([
            OutputColumn("recordId", isNumber: true), OutputColumn("file"), OutputColumn("byteCount", isNumber: true),
            OutputColumn("problem"),
        ])
        var failureCount = 0
        for try await fetched in files.values {
            var entry = ContainerManifest.Entry(recordId: fetched.recordId, modId: fetched.modId)
            entry.key = keys.change { $0.removeValue(forKey: fetched.recordId) }
            switch fetched.result {
            case .success(let file):
                try Self.take(file, as: &entry, instead: list.entries[fetched.recordId], list)
                try list.add(entry)
                if entry.file != nil { try printer.print(Self.row(entry)) }
            case .failure(let error):
                failureCount += 1
                try printer.print(Self.row(entry, problem: ErrorText.reason(of: error)))
            }
        }
        try list.rewrite()
        try printer.end()
        let count = list.entries.values.count { $0.file != nil }
        await visit.notice("\(count) files are in \(into); \(printer.rowCount - failureCount) of them are new.")
        if failureCount > 0 { throw ExitStatus.incomplete.code }
    }

    /// Where a content arrives, before its name is known.
    private static func draft(of recordId: Int, in folder: URL) -> String {
        folder.appendingPathComponent(".\(recordId).part").path
    }

    /// Whether the folder has the container of a record in this version.
    private static func isThere(
        _ entry: ContainerManifest.Entry?,
        modId: Int,
        key: String?,
        of record: AnyFields.Record,
        in list: ContainerManifest
    ) -> Bool {
        guard let entry, entry.modId == modId else { return false }
        if let key, entry.key != record.fieldData.data[key]?.text { return false }
        guard entry.file != nil else { return true }
        guard let path = list.path(of: entry) else { return false }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue == entry.byteCount
    }

    /// Gives a content its name in the folder.
    private static func take(
        _ file: DataAPI.DownloadedFile?,
        as entry: inout ContainerManifest.Entry,
        instead earlier: ContainerManifest.Entry?,
        _ list: ContainerManifest
    ) throws {
        if let file {
            let name = ContainerGetCommand.safeName(file.fileName).map { "\(entry.recordId)-\($0)" }
            entry.file = name ?? "\(entry.recordId)"
            entry.fileName = file.fileName
            entry.type = file.mimeType
            entry.byteCount = file.byteCount
            entry.sha256 = try FileDigest.text(ofFile: file.path)
            guard let path = list.path(of: entry), rename(file.path, path) == 0 else {
                throw FileError(
                    POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO),
                    subject: "write \(entry.file ?? "")"
                )
            }
        }
        // The file of an earlier version, under another name.
        if let earlier, earlier.file != entry.file, let path = list.path(of: earlier) { unlink(path) }
    }

    private static func row(_ entry: ContainerManifest.Entry, problem: String? = nil) -> OutputRow {
        OutputRow(
            cells: [String(entry.recordId), entry.file ?? "", entry.byteCount.map { String($0) } ?? "", problem ?? ""],
            object: [
                "recordId": .int(entry.recordId), "file": entry.file.map(OutputValue.text),
                "byteCount": entry.byteCount.map(OutputValue.int), "sha256": entry.sha256.map(OutputValue.text),
                "problem": problem.map(OutputValue.text),
            ]
        )
    }
}
