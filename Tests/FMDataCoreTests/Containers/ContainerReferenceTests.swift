import CustomDump
import FMData
import Foundation
import Testing

@testable import FMDataCore

@Suite struct ContainerReferenceTests {
    @Test(arguments: [
        "https://host.example/Streaming_SSL/MainDB/89426E32.jpg?RCType=EmbeddedRCFileProcessor",
        "https://host.example:443/Streaming_SSL/Additional_1/1DED5B91?RCType=RCFileProcessor",
        "http://127.0.0.1:8080/Streaming_SSL/MainDB/A4ED.pdf",
        "https://[::1]/Streaming_SSL/MainDB/A4ED",
    ])
    func aURLToFetch(text: String) {
        #expect(DataAPI.ContainerReference(text) == .url(text))
    }

    @Test func nothing() {
        #expect(DataAPI.ContainerReference("") == .empty)
        #expect(DataAPI.ContainerReference("").isEmpty)
    }

    /// peers.md C 15: the API returns a reference such as `file:…` for an externally stored file.
    @Test(
        arguments: [
            ("file:/Hauler/Manuals/winch.pdf", DataAPI.FileReference.Kind.file, ["/Hauler/Manuals/winch.pdf"]),
            ("filewin:/C:/Manuals/winch.pdf", .file, ["/C:/Manuals/winch.pdf"]),
            ("movie:../films/launch.mov", .movie, ["../films/launch.mov"]),
            (
                "size:640,480\rimage:../pics/bow.jpg\rimagemac:/Disk/bow.jpg", .image,
                ["../pics/bow.jpg", "/Disk/bow.jpg"]
            ),
            ("IMAGE:bow.jpg", .image, ["bow.jpg"]),
            ("file:///srv/a.pdf", .file, ["///srv/a.pdf"]),
        ] as [(String, DataAPI.FileReference.Kind, [String])]
    )
    func aFileReference(text: String, kind: DataAPI.FileReference.Kind, paths: [String]) {
        guard case .fileReference(let reference) = DataAPI.ContainerReference(text) else {
            Issue.record("\(text) is no file reference")
            return
        }
        expectNoDifference(reference.kind, kind)
        expectNoDifference(reference.paths, paths)
        expectNoDifference(reference.text, text)
    }

    @Test(arguments: [
        "winch.pdf", "?", "<No Access>", "https://", "https:///no/host", "ftp://host/file", "javascript:alert(1)",
        "file:",
        "https://user@host.example/x", "https://host.example\\@evil.com/", "profile:x", "//host/path", "size:640,480",
    ])
    func otherText(text: String) {
        #expect(DataAPI.ContainerReference(text) == .text(text))
    }

    @Test(arguments: ["", "https://host/x", "size:1,2\rimage:a.jpg", "other"])
    func theTextSurvivesDecodingAndEncoding(text: String) throws {
        let json = try JSONEncoder().encode(["photo": text])
        let decoded = try JSONDecoder().decode([String: DataAPI.ContainerReference].self, from: json)
        #expect(decoded["photo"]?.text == text)
        #expect(try JSONDecoder().decode([String: String].self, from: JSONEncoder().encode(decoded)) == ["photo": text])
    }
}
