import CustomDump
import FMData
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

@Suite(.timeLimit(.minutes(15))) struct MultipartFormTests {
    private static func form(_ file: FMRest.ContainerFile, seed: UInt64 = 1) throws -> MultipartForm {
        var generator = SeededRandom(seed: seed)
        return try MultipartForm(file, using: &generator)
    }

    private static func body(_ form: MultipartForm) async throws -> [UInt8] {
        try await form.chunks().outcome().get().flatMap { Array($0.readableBytesView) }
    }

    @Test func theWholeBodyAsTheServerSeesIt() async throws {
        let file = FMRest.ContainerFile(fileName: "bow.jpg", mimeType: "image/jpeg", data: Data("abc".utf8))
        let form = try Self.form(file)
        let boundary = try #require(form.contentType.components(separatedBy: "boundary=").last)
        #expect(form.contentType == "multipart/form-data; boundary=\(boundary)")
        let body = try await Self.body(form)
        #expect(
            String(decoding: body, as: UTF8.self) == """
                --\(boundary)\r
                Content-Disposition: form-data; name="upload"; filename="bow.jpg"\r
                Content-Type: image/jpeg\r
                \r
                abc\r
                --\(boundary)--\r

                """
        )
        #expect(form.contentLength == body.count)
    }

    @Test(arguments: [
        ("plain.txt", "plain.txt"),
        ("a\"b.txt", "a\\\"b.txt"),
        ("100%22.txt", "100%22.txt"),
        ("Grüße 世界 🚢.pdf", "Grüße 世界 🚢.pdf"),
        ("e\u{301}.txt", "e\u{301}.txt"),
        ("back\\slash;semi.txt\\", "back\\\\slash;semi.txt\\\\"),
    ])
    func fileNamesCannotEndTheirHeader(name: String, escaped: String) throws {
        let escape = try MultipartForm.escaped(fileName: name)
        #expect(Array(escape.utf8) == Array(escaped.utf8))
    }

    @Test(arguments: ["", "a\0b", "a\r\nX-Evil: 1\r\n\r\n.txt", "a\n", "\r"])
    func aFileNameThatCannotBeSentIsRefused(name: String) {
        #expect(Self.refusal(of: .init(fileName: name, mimeType: "a/b", data: Data())) == .invalidFileName)
    }

    @Test func aTypeThatWouldSmuggleAHeaderInIsRefused() {
        let file = FMRest.ContainerFile(fileName: "a", mimeType: "a/b\r\nX-Evil: 1", data: Data())
        #expect(Self.refusal(of: file) == .invalidMIMEType)
    }

    @Test(arguments: [-1, Int.max])
    func aLengthThatCannotBeSentIsRefused(length: Int) {
        let file = FMRest.ContainerFile(fileName: "a", length: length, isReplayable: false) {
            Empty().eraseToAnyPublisher()
        }
        #expect(Self.refusal(of: file) == .invalidLength)
    }

    @Test func equalFilesInMemoryAreEqualRequests() throws {
        let file = FMRest.ContainerFile(fileName: "a.txt", data: Data("same".utf8))
        #expect(try Self.form(file, seed: 1).contentType == Self.form(file, seed: 2).contentType)
    }

    @Test func aFileThatContainsItsBoundaryGetsAnother() {
        let candidates = ["first", "second", "third", "fourth"]
        var attempts: [UInt64] = []
        let boundary = MultipartForm.boundary(notIn: Data("the second, after the first".utf8)) { _, attempt in
            attempts.append(attempt)
            return candidates[min(attempts.count, candidates.count) - 1]
        }
        expectNoDifference(boundary, "third")
        expectNoDifference(attempts, [0, 1, 2])
        // Without another candidate it is the hash of the first attempt, unless the file contains it.
        let data = Data("start".utf8)
        expectNoDifference(MultipartForm.boundary(notIn: data), MultipartForm.hashed(data, attempt: 0))
    }

    /// If a file contains the candidate of one attempt, those of the others must be different texts.
    @Test func eachAttemptAndEachFileHasACandidateOfItsOwn() {
        let attempts = (0..<UInt64(100)).map { MultipartForm.hashed(Data("start".utf8), attempt: $0) }
        let files = (0..<UInt8(100)).map { MultipartForm.hashed(Data([$0]), attempt: 0) }
        expectNoDifference(Set(attempts + files).count, 200)
    }

    @Test func boundariesOfStreamsComeFromTheGenerator() throws {
        let file = FMRest.ContainerFile(fileName: "a", length: 0, isReplayable: true) { Empty().eraseToAnyPublisher() }
        let first = try Self.form(file, seed: 1).contentType
        #expect(try Self.form(file, seed: 1).contentType == first)
        #expect(try Self.form(file, seed: 2).contentType != first)
        // RFC 2046 §5.1.1: at most 70 characters.
        #expect(first.count <= "multipart/form-data; boundary=".count + 70)
    }

    /// Random names and contents are read back by an independent reader of multipart bodies.
    @Test func anyNameAndContentComeBackByteForByte() async throws {
        var generator = SeededRandom(seed: 7)
        for _ in 0..<300 {
            let name = String.randomFileName(using: &generator)
            let data = Data(
                (0..<Int.random(in: 0...200, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
                }
            )
            let form = try Self.form(FMRest.ContainerFile(fileName: name, data: data))
            let body = try await Self.body(form)
            #expect(body.count == form.contentLength)
            let part = try #require(SinglePart(body: body, contentType: form.contentType))
            #expect(part.name == "upload")
            #expect(Array(part.fileName.unicodeScalars) == Array(name.unicodeScalars))
            #expect(part.content == Array(data))
        }
    }

    private static func refusal(of file: FMRest.ContainerFile) -> FMRest.ContainerFileError.Code? {
        do throws(FMRest.ContainerFileError) {
            var generator = SeededRandom(seed: 1)
            _ = try MultipartForm(file, using: &generator)
            return nil
        } catch {
            return error.code
        }
    }
}

/// A reader of bodies with one part, written from RFC 2046 and RFC 7578 without the code of the encoder.
private struct SinglePart {
    var name = ""
    var fileName = ""
    var content: [UInt8]

    init?(body: [UInt8], contentType: String) {
        guard let boundary = contentType.components(separatedBy: "boundary=").last else { return nil }
        let data = Data(body)
        let opening = Data("--\(boundary)\r\n".utf8)
        let closing = Data("\r\n--\(boundary)--\r\n".utf8)
        guard data.starts(with: opening), data.suffix(closing.count) == closing,
            let blank = data.range(of: Data("\r\n\r\n".utf8))
        else { return nil }
        content = Array(data[blank.upperBound..<(data.count - closing.count)])
        // Compare bytes: as `Character`s, a quote and the accent after it would be one.
        let head = data[opening.count..<blank.lowerBound]
        for line in head.split(separator: 0x0A) where line.starts(with: Data("Content-Disposition: form-data".utf8)) {
            let quoted = Self.quotedStrings(in: line)
            guard quoted.count == 2 else { return nil }
            name = quoted[0]
            fileName = quoted[1]
        }
    }

    /// RFC 9110 §5.6.4: after a backslash, any byte stands for itself.
    private static func quotedStrings(in line: Data) -> [String] {
        var strings: [String] = []
        var open: [UInt8]?
        var isEscaped = false
        for byte in line {
            guard let bytes = open else {
                if byte == UInt8(ascii: "\"") { open = [] }
                continue
            }
            if isEscaped || byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "\"") {
                open = bytes + [byte]
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                strings.append(String(decoding: bytes, as: UTF8.self))
                open = nil
            }
        }
        return strings
    }
}
