// What it shows: a picture is uploaded into a container field and read back, byte for byte; as a stream, with progress,
// and as a file; and what an empty container says.
// How to run it: `swift run containers`, against the embedded server; Host.swift says how a real one is named.
// What to look at: `upload` and `readBack` below. Nothing holds the whole picture on its way.
// Picture.swift draws the picture, ProgressBar.swift the progress: your own program needs neither.
import FMData
import FMSandbox
import Foundation
import OpenCombine

@main
struct Containers {
    let layout: DataAPI.Layout
    let place: Host.Place

    static func main() async throws {
        let host = try Host.fromEnvironment()
        let database = host.database
        let tour = Containers(layout: database.addLayout(host.place.layout), place: host.place)
        do {
            let recordId = try await tour.makeARecord()
            let picture = Picture(width: 1000, height: 800).bitmap
            try await tour.upload(picture, to: recordId)
            try await tour.readBack(picture, from: recordId)
            try await tour.saveAsAFile(from: recordId)
            try await tour.meetAnEmptyContainer(recordId)
            _ = try await tour.layout.deleteRecord(recordId: recordId).firstValue()
            _ = try await database.logOut().firstValue()
        } catch let error as FMRest.APIError {
            print("\nThis went wrong: \(error)")
            await host.stop()
            throw error
        }
        await host.stop()
    }

    private func makeARecord() async throws -> Int {
        let record: FieldData = [place.textField: "A picture"]
        let created = try await layout.createRecord(record: EditRecord(createRecord: record)).firstValue()
        print("Made record \(created.recordId) on \(layout.name)")
        return created.recordId
    }

    /// The type is inferred from the bytes; a file on disk or a publisher of bytes is uploaded in the same way.
    private func upload(_ picture: Data, to recordId: Int) async throws {
        let file = FMRest.ContainerFile(fileName: "Mandelbrot – Übersicht.bmp", data: picture)
        let uploaded =
            try await layout
            .uploadContainer(
                file,
                to: place.containerField,
                recordId: recordId,
                onProgress: ProgressBar(label: "Upload  ").draw
            )
            .firstValue()
        print("Uploaded \(file), the record is now version \(uploaded.modId.map(String.init) ?? "unknown")")
    }

    private func readBack(_ picture: Data, from recordId: Int) async throws {
        let content =
            try await layout
            .downloadContainer(fieldName: place.containerField, recordId: recordId)
            .toMemory(upTo: 10_000_000, onProgress: ProgressBar(label: "Download").draw)
            .firstValue()
        print("Read back \(content): \(content.data == picture ? "equal byte for byte" : "NOT EQUAL")")
    }

    /// A record has the URL of the content, which is valid as long as the session.
    private func saveAsAFile(from recordId: Int) async throws {
        let record = try await layout.record(id: recordId).returnAs(FieldData.self).firstValue().data[0]
        let reference = DataAPI.ContainerReference(record.fieldData[place.containerField]?.text ?? "")
        let folder = FileManager.default.temporaryDirectory
        let path = folder.appendingPathComponent("fmdata-example-\(UUID().uuidString).bmp").path
        let file = try await layout.database.download(reference).toFile(at: path).firstValue()
        print("Saved \(file.byteCount) bytes of type \(file.mimeType ?? "unknown") as a file")
        try FileManager.default.removeItem(atPath: path)
    }

    /// Writing an empty text clears a container.
    private func meetAnEmptyContainer(_ recordId: Int) async throws {
        let cleared: FieldData = [place.containerField: .empty]
        _ = try await layout.editRecord(record: EditRecord(editRecord: cleared), recordId: recordId).firstValue()
        let result =
            await layout
            .downloadContainer(fieldName: place.containerField, recordId: recordId)
            .toMemory()
            .awaitSingleResult()
        if case .failure(let error) = result { print(error) }
    }
}
