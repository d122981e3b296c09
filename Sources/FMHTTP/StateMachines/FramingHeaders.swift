internal import NIOHTTP1

/// The few headers of a response that the connection itself needs, gathered in one pass over all.
struct FramingHeaders {
    private(set) var lengths: [String] = []
    private(set) var codings: [String] = []
    private var connection: [String] = []
    private var keepAlive: [String] = []

    init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            // The length of a name tells nearly all of them apart without looking at the letters.
            switch name.utf8.count {
            case 10 where name.isSame(as: "connection"): connection.append(value)
            case 10 where name.isSame(as: "keep-alive"): keepAlive.append(value)
            case 14 where name.isSame(as: "content-length"): lengths.append(value)
            case 17 where name.isSame(as: "transfer-encoding"): codings.append(value)
            default: break
            }
        }
    }

    /// The length of the body of a response that may have one (RFC 9112 §6.3).
    func bodyLength(version: HTTPVersion) throws(ResponseParser.Problem) -> ResponseParser.BodyLength {
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw .malformed("the body has two kinds of length") }
            guard version == .http1_1 else { throw .malformed("a transfer coding in HTTP/1.0") }
            guard codings.count == 1, codings[0].isSame(as: "chunked") else {
                throw .malformed("an unknown transfer coding")
            }
            return .chunked
        }
        guard let length = lengths.first else { return .untilClose }
        // A repeated length, even the same one, is either a mistake or an attempt to make two readers disagree.
        guard lengths.count == 1, let number = Int(length), length.utf8.allSatisfy({ $0.decimalDigit != nil }) else {
            throw .malformed("the length of the body is not a number")
        }
        return .fixed(number)
    }

    /// What becomes of the connection after the response (RFC 9112 §9.3).
    func persistence(version: HTTPVersion, _ bodyLength: ResponseParser.BodyLength) -> ResponseParser.Persistence {
        var keepsAlive = version == .http1_1
        for option in Self.elements(of: connection) {
            if option.isSame(as: "close") { return .init(keepsAlive: false, timeout: nil) }
            if option.isSame(as: "keep-alive") { keepsAlive = true }
        }
        if bodyLength == .untilClose { keepsAlive = false }
        var timeout: Int?
        for parameter in Self.elements(of: keepAlive) {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, let value = Int(pair[1]), value >= 0 else { continue }
            if pair[0].isSame(as: "timeout") { timeout = value }
            if pair[0].isSame(as: "max"), value == 0 { keepsAlive = false }
        }
        return .init(keepsAlive: keepsAlive, timeout: timeout)
    }

    /// The elements of comma-separated lists, blanks removed.
    private static func elements(of values: [String]) -> [Substring] {
        values.flatMap { value in
            value.split(separator: ",").map { element in
                var element = element.drop { $0 == " " || $0 == "\t" }
                while element.last == " " || element.last == "\t" { element.removeLast() }
                return element
            }
        }
    }
}

extension StringProtocol {
    /// Whether this is the same word, which is given in lower case. ASCII only, as all words of HTTP are.
    fileprivate func isSame(as word: StaticString) -> Bool {
        utf8.count == word.utf8CodeUnitCount
            && word.withUTF8Buffer { word in
                utf8.elementsEqual(word) { byte, lowercase in
                    byte == lowercase || (byte | 0x20 == lowercase && (0x41...0x5A).contains(byte))
                }
            }
    }
}
