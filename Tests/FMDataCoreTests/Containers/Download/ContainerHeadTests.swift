import CustomDump
import FMData
import FMHTTP
import Testing

@testable import FMDataCore

@Suite struct ContainerHeadTests {
    @Test func theHeadersOfAPicture() {
        expectNoDifference(
            DataAPI.ContainerHead([
                "content-type": "Image/JPEG; charset=binary", "Content-Length": "12",
                "Content-Disposition": "attachment; filename=\"bow.jpg\"",
            ]),
            DataAPI.ContainerHead(fileName: "bow.jpg", mimeType: "image/jpeg", byteCount: 12)
        )
    }

    @Test func aServerMaySayNothing() {
        expectNoDifference(DataAPI.ContainerHead(HTTPHeaders()), DataAPI.ContainerHead())
    }

    @Test func theLengthOfACompressedBodyIsNotThatOfTheContent() {
        expectNoDifference(
            DataAPI.ContainerHead(["Content-Length": "12", "Content-Encoding": "gzip"]),
            DataAPI.ContainerHead()
        )
    }

    @Test(arguments: ["-12", "+12", "1 2", "12, 12", "", "99999999999999999999"])
    func whatIsNoLengthIsLeftOut(length: String) {
        expectNoDifference(DataAPI.ContainerHead(["Content-Length": length]), DataAPI.ContainerHead())
    }

    @Test(arguments: ["", "jpeg", "image/", "image/jpeg\u{1}", "a/b/c"])
    func whatIsNoMediaTypeIsLeftOut(type: String) {
        #expect(DataAPI.ContainerHead(["Content-Type": type]).mimeType == nil)
    }

    @Test(
        arguments: [
            ("attachment; filename=bow.jpg", "bow.jpg"),
            ("inline;filename = \"bow; stern.jpg\" ; size=1", "bow; stern.jpg"),
            ("attachment; FileName=\"Grüße.pdf\"", "Grüße.pdf"),
            (#"attachment; filename="a\"b\\c.txt""#, "c.txt"),
            (#"attachment; filename="a\"b.txt""#, "a\"b.txt"),
            (#"attachment; filename="C:\dir\b.txt""#, "b.txt"),
            ("attachment; filename=\"x.txt\"; filename*=UTF-8''%E2%82%AC%20rates.txt", "€ rates.txt"),
            ("attachment; filename*=utf-8'en'na%C3%AFve.txt; filename=x", "naïve.txt"),
            ("attachment; filename*=ISO-8859-1''%A3.txt; filename=pound.txt", "pound.txt"),
            ("attachment; filename*=UTF-8''%FF; filename=plain.txt", "plain.txt"),
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename*=UTF-8''..%2F..%2Fx", "x"),
            ("attachment; filename=\"a\u{7}b\"", "ab"),
            ("attachment; filename=first; filename=second", "first"),
            ("attachment; filename=\"\u{301}e.txt\"", "\u{301}e.txt"),
            // As a `Character`, a slash followed by a combining accent is not a slash; for a file system it is.
            ("attachment; filename*=UTF-8''..%2F%CC%81etc", "\u{301}etc"),
            ("attachment; filename*=UTF-8''C:%5C%CC%81x.txt", "\u{301}x.txt"),
            // Characters that change the direction of text, and line separators.
            ("attachment; filename*=UTF-8''%E2%80%AEgpj.exe", "gpj.exe"),
            ("attachment; filename*=UTF-8''a%E2%80%A8b%E2%80%A9.txt", "ab.txt"),
            // Joiners are kept: Persian words and emoji sequences need them.
            ("attachment; filename*=UTF-8''%E2%80%8C%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80.txt", "\u{200C}👩\u{200D}🚀.txt"),
            ("attachment; filename=\"open", "open"),
            ("attachment; x; filename=a", "a"),
        ] as [(String, String)]
    )
    func theNameOfTheFile(header: String, name: String) {
        expectNoDifference(DataAPI.ContainerHead.fileName(in: header), name)
    }

    @Test(arguments: [
        "", "attachment", "attachment; filename=\"\"", "attachment; filename=..", "attachment; filename=/", ";;;",
        "; =",
        "filename=x", "attachment; filename",
    ])
    func noName(header: String) {
        expectNoDifference(DataAPI.ContainerHead.fileName(in: header), nil)
    }
}
