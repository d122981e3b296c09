extension SandboxResponse {
    /// The range of a content that a request asks for ([RFC 9110
    /// §14](https://www.rfc-editor.org/rfc/rfc9110#section-14)). The answer is one range of bytes, unless `If-Range`
    /// names another version; then it is the whole content.
    ///
    /// - Parameter version: The entity tag of the content; other contents have other tags.
    func part(for request: SandboxRequest, version: String) -> SandboxResponse {
        var response = self
        let tag = "\"\(version)\""
        response.headers += [("ETag", tag), ("Accept-Ranges", "bytes")]
        guard let header = request.header("range"), (request.header("if-range") ?? tag) == tag,
            let wanted = ByteRange(header)
        else { return response }
        guard let range = wanted.range(in: body.count) else {
            response.status = 416
            response.headers.append(("Content-Range", "bytes */\(body.count)"))
            response.body = []
            return response
        }
        response.status = 206
        response.headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"))
        response.body = Array(body[range])
        return response
    }
}

/// One range: `bytes=100-199`, `bytes=100-` or `bytes=-100`. Several or invalid ranges are answered with the whole
/// content.
private struct ByteRange {
    private let first: Int?
    private let last: Int?

    init?(_ header: String) {
        let halves = header.split(separator: "=", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].lowercased() == "bytes" else { return nil }
        let ends = halves[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.isEmpty || Int($0) != nil }) else { return nil }
        first = Int(ends[0])
        last = Int(ends[1])
        if first == nil, last == nil { return nil }
        if let first, let last, last < first { return nil }
    }

    /// The range within `count` bytes; nil if none of it exists.
    func range(in count: Int) -> Range<Int>? {
        guard let first else {
            let length = min(last ?? 0, count)
            return length > 0 ? count - length..<count : nil
        }
        return first < count ? first..<min(last ?? count - 1, count - 1) + 1 : nil
    }
}
