import ArgumentParser
import FMData
import FMModel
import Foundation

/// `fmdata containers import`: the files of a folder into containers.
struct ContainersImportCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Puts the files of a folder, as fmdata containers export has written it, into containers.",
        discussion: """
            A file whose checksum is not that of the list is not sent. A container that has the content already is left as it \
            is, so the same command goes on after a kill. Each file is fetched once more and compared. The records are those of \
            the ids in the list, or with --key those with the keys in it. The status is 2 if some files are not in their containers.
            """
    )

    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @OptionGroup var container: ContainerFieldOptions

    @Option(name: .customLong("from"), help: ArgumentHelp("The folder.", valueName: "folder"), completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("The field that has the keys of the list, as with the export.", valueName: "field"))
    var key: String?

    @Flag(help: "Say what would be sent, and send nothing.")
    var dryRun = false

    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup(title: "Form of the data") var form: OutputOptions

    func run() async throws {
        try await visit { visit in
            let layout = try await visit.open().addLayout(layout)
            let fields = try await layout.fields()
            try container.check(fields)
            let keyField = try key.map(fields.known)
            let list = try ContainerManifest(of: URL(fileURLWithPath: folder, isDirectory: true), mustExist: true)
            let entries = list.entries.values.filter { $0.file != nil }.sorted { $0.recordId < $1.recordId }
            let target = ContainerTarget(layout: layout, field: container.field, repetition: container.repetition)
            let printer = printer(["file", "recordId", "result", "problem"].map { OutputColumn($0) })
            var isComplete = true
            for (count, entry) in entries.enumerated() {
                ProgressLine.shared.report(count, of: entries.count, "files")
                let result = try await put(entry, of: list, keyField, target, visit)
                isComplete = isComplete && result.isDone
                try printer.print(result.row(entry))
            }
            try printer.end()
            if !isComplete { throw ExitStatus.incomplete.code }
        }
    }

    /// What became of a file.
    private struct Outcome {
        var name: String
        var recordId: Int?
        var problem: String?

        var isDone: Bool { problem == nil }

        static func failed(_ problem: String, recordId: Int? = nil) -> Outcome {
            Outcome(name: "failed", recordId: recordId, problem: problem)
        }

        func row(_ entry: ContainerManifest.Entry) -> OutputRow {
            OutputRow(
                cells: [entry.file ?? "", recordId.map { String($0) } ?? "", name, problem ?? ""],
                object: [
                    "file": entry.file.map(OutputValue.text), "recordId": recordId.map(OutputValue.int),
                    "result": .text(name), "problem": problem.map(OutputValue.text),
                ]
            )
        }
    }

    private func put(
        _ entry: ContainerManifest.Entry,
        of list: ContainerManifest,
        _ keyField: LayoutFields.Field?,
        _ target: ContainerTarget,
        _ visit: HostVisit
    ) async throws -> Outcome {
        guard let path = list.path(of: entry), let digest = entry.sha256 else {
            return .failed("The entry of the list names no file of the folder, or has no checksum.")
        }
        guard FileManager.default.fileExists(atPath: path) else { return .failed("The file is missing.") }
        guard try FileDigest.text(ofFile: path) == digest else {
            return .failed("The file is not the one of the list: its checksum differs.")
        }
        do {
            let record: (id: Int, modId: Int)
            switch try await target.record(of: entry, keyField) {
            case .success(let found): record = found
            case .failure(let problem): return .failed(problem.description)
            }
            if try await target.holds(digest, byteCount: entry.byteCount, of: record.id) {
                return Outcome(name: "unchanged", recordId: record.id)
            }
            if dryRun { return Outcome(name: "to send", recordId: record.id) }
            let file: FMRest.ContainerFile
            do {
                file = try FMRest.ContainerFile(
                    contentsOf: path,
                    fileName: entry.fileName ?? entry.file,
                    mimeType: entry.type
                )
            } catch {
                return .failed("\(error)")
            }
            do {
                try await visit.writing { try await target.send(file, to: record) }
            } catch let error as FMRest.APIError where error.outcomeIsUnknown {
                guard try await target.holds(digest, byteCount: entry.byteCount, of: record.id) else {
                    let problem = ErrorText.reason(of: error) + " It was not sent again: look first."
                    return Outcome(name: "unknown", recordId: record.id, problem: problem)
                }
                return Outcome(name: "sent", recordId: record.id)
            }
            guard try await target.holds(digest, byteCount: entry.byteCount, of: record.id) else {
                return .failed("What the container returns is not what was sent.", recordId: record.id)
            }
            return Outcome(name: "sent", recordId: record.id)
        } catch let error as FMRest.APIError where error.isOfOneRecord {
            return .failed(ErrorText.reason(of: error))
        }
    }
}

extension FMRest.APIError {
    /// Whether the files of other records may be put into their containers all the same.
    fileprivate var isOfOneRecord: Bool {
        code == .fileMaker && fileMakerCode?.category != .account || code == .container || code == .conflict
    }
}

/// A container field, whose records are found, and whose contents are compared by their checksums.
private struct ContainerTarget: Sendable {
    let layout: DataAPI.Layout
    let field: String
    let repetition: Int

    /// The record of an entry, with its version; or why it is not known.
    func record(
        of entry: ContainerManifest.Entry,
        _ keyField: LayoutFields.Field?
    ) async throws -> Result<(id: Int, modId: Int), CommandError> {
        let records = layout.of(FieldData.self)
        guard let keyField else {
            let record = try await records.record(id: entry.recordId).firstValue()
            return .success((record.recordId, record.modId))
        }
        guard let key = entry.key, !key.isEmpty else {
            return .failure(CommandError("The list has no key of the record: export with --key."))
        }
        let target = DataAPI.FindField(named: keyField.name)
        let number = keyField.result == .number ? FMNumber(key) : nil
        let condition: DataAPI.Find = if let number { target == number } else { target == key }
        var found: [(id: Int, modId: Int)] = []
        // FileMaker finds keys without regard to case and accents, so they are compared here.
        for try await record in records.find(condition).all().values {
            guard let value = record.fieldData[keyField.name] else { continue }
            if number.map({ value.number == $0 }) ?? (value.text == key) {
                found.append((record.recordId, record.modId))
            }
        }
        guard found.count == 1 else {
            return .failure(
                CommandError(found.isEmpty ? "No record has the key." : "\(found.count) records have the key.")
            )
        }
        return .success(found[0])
    }

    /// Whether the container of a record has this content.
    func holds(_ digest: String, byteCount: Int?, of recordId: Int) async throws -> Bool {
        var content = FileDigest()
        let download = layout.downloadContainer(fieldName: field, recordId: recordId, repetition: repetition)
        do {
            for try await part in download.parts.values {
                if case .head(let head) = part, let size = head.byteCount, let byteCount, size != byteCount {
                    return false
                }
                if let bytes = part.bytes { content.add(bytes) }
            }
        } catch let error as FMRest.APIError where error.containerError?.code == .empty {
            return false
        }
        return content.text() == digest
    }

    func send(_ file: FMRest.ContainerFile, to record: (id: Int, modId: Int)) async throws {
        try await layout.uploadContainer(
            file,
            to: field,
            recordId: record.id,
            repetition: repetition == 1 ? nil : repetition,
            modId: record.modId,
            onProgress: { progress in
                ProgressLine.shared.reportBytes(progress.completedBytes, of: progress.totalBytes)
            }
        )
        .firstValue()
    }
}
