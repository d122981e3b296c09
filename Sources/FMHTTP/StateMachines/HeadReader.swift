internal import NIOHTTP1

/// Parses a status line and header lines from bytes that end with CR LF (or are one line without it).
struct HeadReader {
    typealias Problem = ResponseParser.Problem

    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func head(maximumHeaderCount: Int) throws(Problem) -> HTTPResponseHead {
        let (version, status) = try statusLine()
        var headers: [(String, String)] = []
        headers.reserveCapacity(16)
        while index < bytes.count {
            guard headers.count < maximumHeaderCount else { throw .tooManyHeaders }
            headers.append(try field())
        }
        return HTTPResponseHead(version: version, status: status, headers: HTTPHeaders(headers))
    }

    /// Parses `HTTP/1.1 200 OK`; the reason may be missing, with or without its space.
    private mutating func statusLine() throws(Problem) -> (HTTPVersion, HTTPResponseStatus) {
        let line = try line()
        guard line.count >= 12, line.prefix(7).elementsEqual("HTTP/1.".utf8), line[8] == .space,
            let minor = line[7].decimalDigit, let hundreds = line[9].decimalDigit, let tens = line[10].decimalDigit,
            let ones = line[11].decimalDigit, hundreds > 0
        else { throw .malformed("the status line is not HTTP/1.x") }
        guard line.count == 12 || line[12] == .space else {
            throw .malformed("the status is not a number of three digits")
        }
        let reason = UnsafeRawBufferPointer(rebasing: line[min(13, line.count)...])
        guard reason.allSatisfy(\.isFieldValueByte) else { throw .malformed("a control character in the status line") }
        let code = hundreds * 100 + tens * 10 + ones
        // For known codes the received reason is dropped, which saves a string for almost every response.
        var status = HTTPResponseStatus(statusCode: code)
        if case .custom = status {
            status = .custom(code: UInt(code), reasonPhrase: String(decoding: reason, as: UTF8.self))
        }
        return (minor == 1 ? .http1_1 : HTTPVersion(major: 1, minor: minor), status)
    }

    /// Parses `name: value`, without the blanks around the value (RFC 9112 §5).
    mutating func field() throws(Problem) -> (String, String) {
        let line = try line()
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .malformed("a header line without a colon")
        }
        let name = line[..<colon]
        // This also rejects folded lines and blanks before the colon: neither makes a token.
        guard name.isToken else {
            throw .malformed("a header name is not a token")
        }
        var value = line[(colon + 1)...]
        while let first = value.first, first.isBlank { value.removeFirst() }
        while let last = value.last, last.isBlank { value.removeLast() }
        guard value.allSatisfy(\.isFieldValueByte) else { throw .malformed("a control character in a header") }
        return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private mutating func line() throws(Problem) -> UnsafeRawBufferPointer {
        let start = index
        var end = start
        while end < bytes.count, bytes[end] != .lineFeed { end += 1 }
        guard end < bytes.count else {
            index = end
            return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        }
        guard end > start, bytes[end - 1] == .carriageReturn else { throw .malformed("a line ends without CR LF") }
        index = end + 1
        return UnsafeRawBufferPointer(rebasing: bytes[start..<(end - 1)])
    }
}
