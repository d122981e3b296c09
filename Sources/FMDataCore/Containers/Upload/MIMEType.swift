import FMHTTP

/// Infers media types from file names and leading bytes.
///
/// Bytes take precedence over the name, since users choose names freely. Each signature has several bytes (two-byte
/// ones have further bytes at a fixed offset), so text that begins with "BM" or "M" is not taken for a picture. If one
/// signature stands for a family of formats (ZIP for the office formats, OLE, RIFF, XML), the name selects the format.
enum MIMEType {
    /// The type if neither name nor bytes determine one.
    static let octetStream = "application/octet-stream"

    /// The number of leading bytes that ``infer(fileName:leadingBytes:)`` reads: the last signature is that of tar, at
    /// 257.
    static let sniffLength = 262

    static func infer(fileName: String, leadingBytes: some Collection<UInt8>) -> String {
        let byName = pathExtension(of: fileName).flatMap { typesByExtension[$0] }
        let bytes = Array(leadingBytes.prefix(sniffLength))
        guard let signature = signatures.first(where: { $0.matches(bytes) }) else { return byName ?? octetStream }
        if let byName, families[signature.type]?.contains(byName) == true { return byName }
        return signature.type
    }

    /// Whether a text is `type/subtype` with optional parameters and nothing that could end a header line:
    /// [RFC 9110 §8.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1).
    static func isValid(_ text: String) -> Bool {
        let essence = text.prefix { $0 != ";" }.utf8
        let halves = essence.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && halves.count == 2
            && halves[0].isToken && halves[1].trimmingTrailingSpaces.isToken
    }

    private static func pathExtension(of fileName: String) -> String? {
        guard let dot = fileName.lastIndex(of: "."), dot != fileName.startIndex else { return nil }
        return fileName[fileName.index(after: dot)...].lowercased()
    }
}

extension Substring.UTF8View {
    fileprivate var trimmingTrailingSpaces: Substring.UTF8View {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == UInt8(ascii: " ") { end = index(before: end) }
        return self[startIndex..<end]
    }
}

/// Bytes at fixed offsets that identify a format.
private struct Signature: Sendable {
    let type: String
    let parts: [(offset: Int, bytes: [UInt8])]

    init(_ type: String, _ parts: (offset: Int, bytes: [UInt8])...) {
        self.type = type
        self.parts = parts
    }

    func matches(_ data: [UInt8]) -> Bool {
        parts.allSatisfy { data.dropFirst($0.offset).starts(with: $0.bytes) }
    }
}

private func ascii(_ text: StaticString, at offset: Int = 0) -> (offset: Int, bytes: [UInt8]) {
    (offset, text.withUTF8Buffer(Array.init))
}

extension MIMEType {
    /// The first match counts, so a signature that is more specific than another one stands before it.
    private static let signatures: [Signature] = [
        Signature("image/png", (0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])),
        Signature("image/jpeg", (0, [0xFF, 0xD8, 0xFF])),
        Signature("image/gif", ascii("GIF87a")),
        Signature("image/gif", ascii("GIF89a")),
        Signature("image/tiff", (0, [0x49, 0x49, 0x2A, 0x00])),
        Signature("image/tiff", (0, [0x4D, 0x4D, 0x00, 0x2A])),
        Signature("image/bmp", ascii("BM"), (6, [0, 0, 0, 0])),
        Signature("image/webp", ascii("RIFF"), ascii("WEBP", at: 8)),
        Signature("image/vnd.adobe.photoshop", ascii("8BPS"), (4, [0, 1])),
        Signature("image/vnd.microsoft.icon", (0, [0, 0, 1, 0]), (5, [0])),
        Signature("image/heic", ascii("ftypheic", at: 4)),
        Signature("image/heic", ascii("ftypheix", at: 4)),
        Signature("image/heif", ascii("ftypmif1", at: 4)),
        Signature("image/avif", ascii("ftypavif", at: 4)),
        Signature("image/svg+xml", ascii("<svg ")),
        Signature("audio/wav", ascii("RIFF"), ascii("WAVE", at: 8)),
        Signature("audio/aiff", ascii("FORM"), ascii("AIFF", at: 8)),
        Signature("audio/aiff", ascii("FORM"), ascii("AIFC", at: 8)),
        Signature("audio/mpeg", ascii("ID3"), (5, [0])),
        Signature("audio/flac", ascii("fLaC")),
        Signature("audio/midi", ascii("MThd")),
        Signature("audio/mp4", ascii("ftypM4A ", at: 4)),
        Signature("audio/ogg", ascii("OggS")),
        Signature("video/x-msvideo", ascii("RIFF"), ascii("AVI ", at: 8)),
        Signature("video/quicktime", ascii("ftypqt  ", at: 4)),
        Signature("video/mp4", ascii("ftyp", at: 4)),
        Signature("video/mpeg", (0, [0x00, 0x00, 0x01, 0xBA])),
        Signature("video/mpeg", (0, [0x00, 0x00, 0x01, 0xB3])),
        Signature("video/x-matroska", (0, [0x1A, 0x45, 0xDF, 0xA3])),
        Signature("application/pdf", ascii("%PDF-")),
        Signature("application/postscript", ascii("%!PS-Adobe")),
        Signature("application/rtf", ascii("{\\rtf")),
        Signature("application/zip", (0, [0x50, 0x4B, 0x03, 0x04])),
        Signature("application/zip", (0, [0x50, 0x4B, 0x05, 0x06])),
        Signature("application/x-ole-storage", (0, [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1])),
        Signature("application/gzip", (0, [0x1F, 0x8B, 0x08])),
        Signature("application/x-bzip2", ascii("BZh"), (4, [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])),
        Signature("application/x-xz", (0, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00])),
        Signature("application/x-7z-compressed", (0, [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C])),
        Signature("application/vnd.rar", ascii("Rar!"), (4, [0x1A, 0x07])),
        Signature("application/x-tar", ascii("ustar", at: 257)),
        Signature("application/vnd.sqlite3", ascii("SQLite format 3"), (15, [0])),
        Signature("font/woff", ascii("wOFF")),
        Signature("font/woff2", ascii("wOF2")),
        Signature("font/otf", ascii("OTTO")),
        Signature("text/html", ascii("<!DOCTYPE html")),
        Signature("text/html", ascii("<!doctype html")),
        Signature("text/html", ascii("<html")),
        Signature("application/xml", ascii("<?xml ")),
    ]

    /// Signatures shared by several formats, with the formats that the name may select.
    private static let families: [String: Set<String>] = [
        "application/zip": [
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.spreadsheet",
            "application/vnd.oasis.opendocument.presentation", "application/epub+zip", "application/java-archive",
            "application/vnd.apple.pages", "application/vnd.apple.numbers", "application/vnd.apple.keynote",
        ],
        "application/x-ole-storage": [
            "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
            "application/vnd.ms-outlook",
        ],
        "application/xml": ["image/svg+xml", "application/xhtml+xml", "text/html", "application/rss+xml"],
        "application/postscript": ["application/illustrator"],
        "application/pdf": ["application/illustrator"],
        "application/gzip": ["image/svg+xml"],
        "audio/ogg": ["video/ogg"],
        "video/mp4": ["audio/mp4", "video/quicktime", "video/3gpp"],
        "video/x-matroska": ["video/webm", "audio/webm"],
        "image/heif": ["image/heic"],
    ]

    private static let typesByExtension: [String: String] = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "jpe": "image/jpeg", "gif": "image/gif",
        "tif": "image/tiff", "tiff": "image/tiff", "bmp": "image/bmp", "webp": "image/webp", "avif": "image/avif",
        "heic": "image/heic", "heif": "image/heif", "svg": "image/svg+xml", "svgz": "image/svg+xml",
        "ico": "image/vnd.microsoft.icon", "psd": "image/vnd.adobe.photoshop",
        "wav": "audio/wav", "aif": "audio/aiff", "aiff": "audio/aiff", "mp3": "audio/mpeg", "flac": "audio/flac",
        "mid": "audio/midi", "m4a": "audio/mp4", "ogg": "audio/ogg", "oga": "audio/ogg", "weba": "audio/webm",
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "avi": "video/x-msvideo",
        "mpg": "video/mpeg", "mpeg": "video/mpeg", "mkv": "video/x-matroska", "webm": "video/webm",
        "ogv": "video/ogg", "3gp": "video/3gpp",
        "pdf": "application/pdf", "ps": "application/postscript", "eps": "application/postscript",
        "ai": "application/illustrator", "rtf": "application/rtf", "doc": "application/msword",
        "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "msg": "application/vnd.ms-outlook",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "pages": "application/vnd.apple.pages",
        "numbers": "application/vnd.apple.numbers", "key": "application/vnd.apple.keynote",
        "epub": "application/epub+zip", "jar": "application/java-archive", "zip": "application/zip",
        "gz": "application/gzip", "tgz": "application/gzip", "bz2": "application/x-bzip2", "xz": "application/x-xz",
        "7z": "application/x-7z-compressed", "rar": "application/vnd.rar", "tar": "application/x-tar",
        "sqlite": "application/vnd.sqlite3", "woff": "font/woff", "woff2": "font/woff2", "otf": "font/otf",
        "ttf": "font/ttf", "txt": "text/plain", "log": "text/plain", "md": "text/markdown", "csv": "text/csv",
        "tsv": "text/tab-separated-values", "tab": "text/tab-separated-values", "htm": "text/html",
        "html": "text/html", "xhtml": "application/xhtml+xml", "css": "text/css", "js": "text/javascript",
        "json": "application/json", "xml": "application/xml", "rss": "application/rss+xml",
        "ics": "text/calendar", "vcf": "text/vcard", "eml": "message/rfc822", "p7m": "application/pkcs7-mime",
    ]
}
