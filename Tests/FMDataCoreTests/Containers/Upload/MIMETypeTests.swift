import CustomDump
import FMData
import FMTestSupport
import Foundation
import Testing

@testable import FMDataCore

@Suite struct MIMETypeTests {
    private static func padded(_ bytes: [UInt8], at offset: Int = 0) -> [UInt8] {
        [UInt8](repeating: 0x20, count: offset) + bytes + [UInt8](repeating: 0x20, count: 300)
    }

    @Test(
        arguments: [
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
            ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"),
            (Array("GIF89a".utf8), "image/gif"),
            ([0x4D, 0x4D, 0x00, 0x2A], "image/tiff"),
            (Array("RIFF????WEBPVP8 ".utf8), "image/webp"),
            (Array("RIFF????WAVEfmt ".utf8), "audio/wav"),
            (Array("????ftypheic".utf8), "image/heic"),
            (Array("????ftypisom".utf8), "video/mp4"),
            (Array("????ftypqt  ".utf8), "video/quicktime"),
            (Array("%PDF-1.7".utf8), "application/pdf"),
            ([0x50, 0x4B, 0x03, 0x04], "application/zip"),
            ([0x1F, 0x8B, 0x08], "application/gzip"),
            (Array("<?xml version='1.0'?>".utf8), "application/xml"),
        ] as [([UInt8], String)]
    )
    func bytesTellTheTypeWithoutAName(bytes: [UInt8], type: String) {
        #expect(MIMEType.infer(fileName: "noname", leadingBytes: Self.padded(bytes)) == type)
    }

    @Test func tarIsToldByBytesFarBehindTheStart() {
        let bytes = Self.padded(Array("ustar".utf8), at: 257)
        #expect(MIMEType.infer(fileName: "x", leadingBytes: bytes) == "application/x-tar")
        #expect(MIMEType.infer(fileName: "x", leadingBytes: bytes.prefix(MIMEType.sniffLength)) == "application/x-tar")
    }

    @Test func bytesWinOverAWrongName() {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        #expect(MIMEType.infer(fileName: "photo.jpg", leadingBytes: png) == "image/png")
    }

    /// peers.md D 73: a client that looked at one byte took every "M…" for TIFF and every "F…" for text.
    @Test(arguments: [
        ("Merry.txt", "Merry Christmas"), ("F.csv", "Foo,Bar"), ("b.txt", "BMW 2002 is a car"), ("r.txt", "RIFF"),
    ])
    func textThatBeginsLikeAPictureIsNone(name: String, text: String) {
        let type = MIMEType.infer(fileName: name, leadingBytes: Array(text.utf8))
        #expect(type == (name.hasSuffix("csv") ? "text/csv" : "text/plain"))
        #expect(MIMEType.infer(fileName: "", leadingBytes: Array(text.utf8)) == "application/octet-stream")
    }

    @Test(arguments: [
        ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.ODS", "application/vnd.oasis.opendocument.spreadsheet"),
        ("a.zip", "application/zip"),
        ("a.png", "application/zip"),
        ("a", "application/zip"),
    ])
    func theNameChoosesAmongFormatsOfOneSignature(name: String, type: String) {
        #expect(MIMEType.infer(fileName: name, leadingBytes: [0x50, 0x4B, 0x03, 0x04, 0x14, 0x00]) == type)
    }

    @Test(arguments: [
        ("a.JPG", "image/jpeg"), ("a.b.pdf", "application/pdf"), ("résumé.txt", "text/plain"),
        (".gitignore", "application/octet-stream"),
        ("noextension", "application/octet-stream"), ("odd.xyz", "application/octet-stream"),
        ("trailing.", "application/octet-stream"),
        ("", "application/octet-stream"),
    ])
    func theNameTellsWhatBytesDoNot(name: String, type: String) {
        #expect(MIMEType.infer(fileName: name, leadingBytes: []) == type)
    }

    @Test(arguments: [
        "image/jpeg", "application/vnd.ms-excel", "text/plain; charset=utf-8", "text/plain ;charset=\"utf-8\"",
        "x-a/b+c",
    ])
    func typesThatMayBeSent(text: String) {
        #expect(MIMEType.isValid(text))
    }

    @Test(arguments: [
        "", "image", "image/", "/jpeg", "image/jpeg/x", "image /jpeg", "image/jpeg\r\nX-Evil: 1", "image/jpeg\n",
        "a/b;\u{7F}",
        "bild/größe", "a/b; x=\u{0}", "ima(ge/jpeg",
    ])
    func textsThatAreNoTypes(text: String) {
        #expect(!MIMEType.isValid(text))
    }

    @Test(
        .tags(.earlierClients),
        arguments: [("MZ text", "m.bin"), ("Four score", "f.bin"), ("", "empty.bin")]
    )
    func aMediaTypeTakesMoreThanOneByteToTell(content: String, name: String) throws {
        let file = FMRest.ContainerFile(fileName: name, data: Data(content.utf8))
        #expect(!["image/tiff", "text/plain"].contains(file.mimeType), "one letter says nothing")
    }
}
