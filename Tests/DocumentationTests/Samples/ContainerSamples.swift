import FMData
import Foundation
import OpenCombine

// The samples of the article about containers. What a sample takes for granted is declared around it.

private enum ContainerArticle {
    struct Vessel: Codable {
        var name: String
        var photo: DataAPI.ContainerReference
    }

    func save(
        _ vessel: Vessel,
        from database: DataAPI.Database
    ) -> AnyPublisher<DataAPI.DownloadedFile, FMRest.APIError> {
        database.download(vessel.photo).toFile(at: "/srv/photos/bow.jpg")
    }

    static func upload(_ bytes: Data, vessels: DataAPI.Layout) async throws {
        let picture = FMRest.ContainerFile(fileName: "bow.jpg", data: bytes)
        let upload = vessels.uploadToContainerField(fieldName: "Photo", recordId: 17, file: picture)

        let film = try FMRest.ContainerFile(contentsOf: "/srv/films/launch.mp4")
        let uploaded = try await vessels.uploadContainer(film, to: "Film", recordId: 17, modId: 5) { progress in
            print("\(Int(100 * (progress.fraction ?? 0))) %")
        }
        .firstValue()
        print(uploaded.modId ?? 0)

        let clear = vessels.editRecord(record: EditRecord(editRecord: ["Photo": ""]), recordId: 17)
        _ = (upload, clear)
    }

    static func download(vessels: DataAPI.Layout) async throws {
        let photo = vessels.downloadContainer(fieldName: "Photo", recordId: 17)

        let content = try await photo.toMemory(upTo: 10_000_000).firstValue()
        print(content.fileName ?? "", content.mimeType ?? "", content.data.count)

        let saved = try await photo.toFile(at: "/srv/photos/17.jpg").firstValue()
        print(saved.byteCount)

        let relay = photo.parts
            .sink(
                receiveCompletion: { completion in print(completion) },
                receiveValue: { part in
                    switch part {
                    case .head(let head): print(head.mimeType ?? "application/octet-stream", head.byteCount ?? -1)
                    case .bytes(let bytes): print(bytes.count)
                    }
                }
            )

        let optionalPhoto = photo.toMemory()
            .map { content in Optional(content) }
            .catch { error in
                error.containerError?.code == .empty
                    ? Just(nil).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                    : Fail(error: error).eraseToAnyPublisher()
            }
        _ = (relay, optionalPhoto)
    }
}
