internal import NIOHTTP1

/// The framing and persistence headers of a response, collected in one pass over all headers.
struct FramingHeaders {
    private enum Length {
        case absent
        case bytes(Int)
        case invalid
    }

    private enum Coding {
        case none
        case chunked
        case unknown
    }

    private var length = Length.absent
    private var coding = Coding.none
    private var closes = false
    private var keepsAlive = false
    private var mayServeMore = true
    private var timeout: Int?

    init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            // The length of a name excludes nearly all candidates without comparing letters.
            switch name.utf8.count {
            case 10 where name.utf8.isSame(as: "connection"): readConnection(value.utf8)
            case 10 where name.utf8.isSame(as: "keep-alive"): readKeepAlive(value.utf8)
            case 14 where name.utf8.isSame(as: "content-length"): readLength(value.utf8)
            case 17 where name.utf8.isSame(as: "transfer-encoding"): readCoding(value.utf8)
            default: break
            }
        }
    }

    private mutating func readLength(_ value: String.UTF8View) {
        switch length {
        case .absent: length = value.decimalNumber.map { .bytes($0) } ?? .invalid
        // A repeated length, even the same one, is either a mistake or an attempt to make two parsers disagree.
        case .bytes, .invalid: length = .invalid
        }
    }

    private mutating func readCoding(_ value: String.UTF8View) {
        switch coding {
        case .none: coding = value.isSame(as: "chunked") ? .chunked : .unknown
        case .chunked, .unknown: coding = .unknown
        }
    }

    private mutating func readConnection(_ value: String.UTF8View) {
        value.forEachListElement { option in
            if option.isSame(as: "close") { closes = true }
            if option.isSame(as: "keep-alive") { keepsAlive = true }
        }
    }

    private mutating func readKeepAlive(_ value: String.UTF8View) {
        value.forEachListElement { parameter in
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
                let number = parameter[parameter.index(after: equals)...].decimalNumber
            else { return }
            let name = parameter[..<equals]
            if name.isSame(as: "timeout") { timeout = number }
            if name.isSame(as: "max"), number == 0 { mayServeMore = false }
        }
    }

    /// The length of the body of a response that may have one (RFC 9112 §6.3).
    func bodyLength(version: HTTPVersion) throws(ResponseParser.Problem) -> ResponseParser.BodyLength {
        switch (coding, length) {
        case (.none, .absent): return .untilClose
        case (.none, .bytes(let count)): return .fixed(count)
        case (.none, .invalid): throw .malformed("the length of the body is not a number")
        case (.chunked, .bytes), (.chunked, .invalid), (.unknown, .bytes), (.unknown, .invalid):
            throw .malformed("the body has two kinds of length")
        case (.chunked, .absent), (.unknown, .absent):
            guard version == .http1_1 else { throw .malformed("a transfer coding in HTTP/1.0") }
            guard case .chunked = coding else { throw .malformed("an unknown transfer coding") }
            return .chunked
        }
    }

    /// What happens to the connection after the response (RFC 9112 §9.3).
    func persistence(version: HTTPVersion, _ bodyLength: ResponseParser.BodyLength) -> ResponseParser.Persistence {
        if closes { return .init(keepsAlive: false, timeout: nil) }
        let isKept = (version == .http1_1 || keepsAlive) && mayServeMore && bodyLength != .untilClose
        return .init(keepsAlive: isKept, timeout: timeout)
    }
}
