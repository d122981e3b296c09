// What it shows: a picture is uploaded into a container field and read back, byte for byte, with progress; it is saved
// as a file; and what an empty container says.
// How to run it: `swift run containers`, against the embedded server; Host.swift says how a real one is named.
// What to look at: the calls name the field by its coding key, `.photo`; each is a publisher of one value.
// Picture.swift draws the picture, ProgressBar.swift the progress: your own program needs neither.
import FMData
import FMSandbox
import Foundation
import OpenCombine

/// What this program needs of a contact.
struct Contact: LayoutRecord {
    static let layout = "Contacts"

    var name: String
    /// Where the content of the container is; it is fetched by a call of its own.
    var photo: DataAPI.ContainerReference

    enum CodingKeys: String, CodingKey {
        case name = "Name"
        case photo = "Photo"
    }
}

@main
struct Containers {
    let contacts: DataAPI.TypedLayout<Contact>

    static func main() async throws {
        let host = try Host.fromEnvironment()
        let tour = Containers(contacts: host.database.layout(Contact.self))
        do {
            let id = try await tour.contacts.create([.name: "A picture"]).firstValue().recordId
            print("Made record \(id) on \(Contact.layout)")
            let picture = Picture(width: 1000, height: 800).bitmap
            try await tour.upload(picture, to: id)
            try await tour.readBack(picture, from: id)
            try await tour.saveAsAFile(from: id)
            try await tour.meetAnEmptyContainer(id)
            _ = try await tour.contacts.delete(id).firstValue()
            _ = try await host.database.logOut().firstValue()
        } catch let error as FMRest.APIError {
            print("\nThis went wrong: \(error)")
            await host.stop()
            throw error
        }
        await host.stop()
    }

    /// The type is inferred from the bytes; a file on disk or a publisher of bytes is uploaded in the same way.
    private func upload(_ picture: Data, to id: Int) async throws {
        let file = FMRest.ContainerFile(fileName: "Mandelbrot – Übersicht.bmp", data: picture)
        let uploaded = try await contacts.upload(
            file,
            to: .photo,
            of: id,
            onProgress: ProgressBar(label: "Upload  ").draw
        )
        .firstValue()
        print("Uploaded \(file), the record is now version \(uploaded.modId.map(String.init) ?? "unknown")")
    }

    private func readBack(_ picture: Data, from id: Int) async throws {
        let content = try await contacts.download(.photo, of: id)
            .toMemory(upTo: 10_000_000, onProgress: ProgressBar(label: "Download").draw)
            .firstValue()
        print("Read back \(content): \(content.data == picture ? "equal byte for byte" : "NOT EQUAL")")
    }

    /// A record that was read has the URL of the content, which is valid as long as its session.
    private func saveAsAFile(from id: Int) async throws {
        let folder = FileManager.default.temporaryDirectory
        let path = folder.appendingPathComponent("fmdata-example-\(UUID().uuidString).bmp").path
        let file = try await contacts.record(id: id)
            .flatMap { [contacts] contact in contacts.layout.database.download(contact.photo).toFile(at: path) }
            .firstValue()
        print("Saved \(file.byteCount) bytes of type \(file.mimeType ?? "unknown") as a file")
        try FileManager.default.removeItem(atPath: path)
    }

    /// Writing nothing clears a container.
    private func meetAnEmptyContainer(_ id: Int) async throws {
        _ = try await contacts.edit(id, setting: [.photo: nil]).firstValue()
        let result = await contacts.download(.photo, of: id).toMemory().awaitSingleResult()
        if case .failure(let error) = result { print(error) }
    }
}
