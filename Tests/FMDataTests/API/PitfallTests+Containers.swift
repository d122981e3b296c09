import CustomDump
import FMHTTP
import FMTestSupport
import Foundation
import Testing

@testable import FMData

/// What earlier clients got wrong about containers.
extension PitfallTests {
    @Suite struct Containers {
        @Test("2, 75: the modId of an upload is sent, so a stale one is refused")
        func guardedUpload() async throws {
            try await World.run { world in
                let created = try await world.contacts.createRecord().firstValue()
                let stale = await world.contacts.uploadToContainerField(
                    fieldName: "Photo",
                    recordId: created.recordId,
                    modId: 99,
                    file: Self.file("a.txt")
                ).awaitSingleResult().failure
                expectNoDifference(stale?.fileMakerCode, .modIdMismatch)
                let fresh = try await world.contacts.uploadContainer(
                    Self.file("a.txt"),
                    to: "Photo",
                    recordId: created.recordId,
                    modId: created.modId
                ).firstValue()
                expectNoDifference(fresh.modId, 1)
            }
        }

        @Test("3: an upload goes with the session's token and a media type of its own")
        func uploadInASession() async throws {
            try await ScriptedHost.run { host in
                _ = await host.database.addLayout("People").uploadToContainerField(
                    fieldName: "Photo",
                    recordId: 1,
                    file: Self.file("a.txt")
                ).awaitSingleResult()
                let upload = try #require(host.calls.last { $0.target.contains("/containers/") })
                #expect(upload.headers.first(name: "Authorization")?.hasPrefix("Bearer ") == true)
                expectNoDifference(upload.headers["Content-Type"].count, 1)
                #expect(
                    upload.headers.first(name: "Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true
                )
            }
        }

        @Test("72: the file name is quoted, the repetition is in the path, and the new modId comes back")
        func nameRepetitionAndModId() async throws {
            try await ScriptedHost.run { host in
                _ = await host.database.addLayout("People").uploadToContainerField(
                    fieldName: "Photo",
                    recordId: 1,
                    repetition: 2,
                    file: Self.file("my \"file\".txt")
                ).awaitSingleResult()
                let upload = try #require(host.calls.last { $0.target.contains("/containers/") })
                #expect(upload.target.hasSuffix("/records/1/containers/Photo/2"))
                #expect(upload.text.contains(#"name="upload"; filename="my \"file\".txt""#))
            }
        }

        @Test(
            "73: a media type takes more than one byte to tell",
            arguments: [("MZ text", "m.bin"), ("Four score", "f.bin"), ("", "empty.bin")]
        )
        func mediaTypes(content: String, name: String) throws {
            let file = FMRest.ContainerFile(fileName: name, data: Data(content.utf8))
            #expect(!["image/tiff", "text/plain"].contains(file.mimeType), "one letter says nothing")
        }

        private static func file(_ name: String) -> FMRest.ContainerFile {
            FMRest.ContainerFile(fileName: name, mimeType: "text/plain", data: Data("hello".utf8))
        }
    }
}
