import NIOCore

/// Makes values of the bytes that a store sends, as they come.
///
/// An answer that is too large or malformed is the end: the bytes after it mean nothing.
struct RESPParser: Sendable {
    /// What an answer may have at most.
    struct Limits: Sendable {
        var bytes = 4 << 20
        var depth = 8
        var elements = 10_000
        var lineBytes = 64 << 10
    }

    enum Failure: Error, Hashable, Sendable {
        case malformed
        case tooLarge
    }

    private let limits: Limits
    private var buffer = ByteBuffer()
    private var failure: Failure?

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    mutating func append(_ bytes: ByteBuffer) {
        buffer.writeImmutableBuffer(bytes)
    }

    /// The next value; `nil` while it is not complete.
    mutating func next() throws(Failure) -> RESPValue? {
        if let failure { throw failure }
        do throws(Failure) {
            // Attributes describe the value after them, and nothing here asks for them.
            while true {
                var reading = Reading(bytes: buffer.readableBytesView, limits: limits)
                guard let parsed = try reading.value(depth: 0) else {
                    if buffer.readableBytes > limits.bytes { throw Failure.tooLarge }
                    return nil
                }
                buffer.moveReaderIndex(forwardBy: reading.position)
                buffer.discardReadBytes()
                if let value = parsed.value { return value }
            }
        } catch {
            failure = error
            throw error
        }
    }
}

/// One attempt to read a value from the start of the bytes.
private struct Reading {
    /// A value, or an attribute, which has none.
    struct Parsed {
        let value: RESPValue?
    }

    private let bytes: ByteBufferView
    private let limits: RESPParser.Limits
    /// How many bytes have been read.
    private(set) var position = 0
    private var elements = 0

    init(bytes: ByteBufferView, limits: RESPParser.Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// `nil` when bytes are missing.
    mutating func value(depth: Int) throws(RESPParser.Failure) -> Parsed? {
        if depth > limits.depth { throw .tooLarge }
        guard let type = byte() else { return nil }
        guard let line = try line() else { return nil }
        switch type {
        case UInt8(ascii: "+"): return Parsed(value: .simple(String(decoding: line, as: UTF8.self)))
        case UInt8(ascii: "-"): return Parsed(value: .error(RESPError(line)))
        case UInt8(ascii: ":"): return Parsed(value: .integer(try number(line)))
        case UInt8(ascii: "_") where line.isEmpty: return Parsed(value: .null)
        case UInt8(ascii: "#"): return Parsed(value: .bool(try bool(line)))
        case UInt8(ascii: ","): return Parsed(value: .double(try double(line)))
        case UInt8(ascii: "("): return Parsed(value: .big(try digits(line)))
        case UInt8(ascii: "$"): return try blob(line) { .text($0) }
        case UInt8(ascii: "!"): return try blob(line) { .error(RESPError($0)) }
        case UInt8(ascii: "="): return try verbatim(line)
        case UInt8(ascii: "*"), UInt8(ascii: "~"): return try list(line, 1, depth) { .array($0) }
        case UInt8(ascii: ">"): return try list(line, 1, depth) { .push($0) }
        case UInt8(ascii: "%"): return try list(line, 2, depth) { .map($0) }
        case UInt8(ascii: "|"): return try list(line, 2, depth) { _ in nil }
        default: throw .malformed
        }
    }

    private mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[bytes.startIndex + position]
    }

    /// The bytes before the next CR LF.
    private mutating func line() throws(RESPParser.Failure) -> ByteBufferView? {
        let rest = bytes[(bytes.startIndex + position)...]
        let window = rest.prefix(limits.lineBytes + 1)
        guard let end = window.firstIndex(of: UInt8(ascii: "\r")) else {
            if window.contains(UInt8(ascii: "\n")) { throw .malformed }
            if window.count > limits.lineBytes { throw .tooLarge }
            return nil
        }
        let line = window[..<end]
        if line.contains(UInt8(ascii: "\n")) { throw .malformed }
        guard end + 1 < bytes.endIndex else { return nil }
        guard bytes[end + 1] == UInt8(ascii: "\n") else { throw .malformed }
        position += line.count + 2
        return ByteBufferView(line)
    }

    private func number(_ line: ByteBufferView) throws(RESPParser.Failure) -> Int {
        guard let number = Int(try digits(line)) else { throw .malformed }
        return number
    }

    private func digits(_ line: ByteBufferView) throws(RESPParser.Failure) -> String {
        let digits =
            line.first.map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } == true
            ? line.dropFirst() : line[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformed }
        return String(decoding: line, as: UTF8.self)
    }

    private func bool(_ line: ByteBufferView) throws(RESPParser.Failure) -> Bool {
        switch String(decoding: line, as: UTF8.self) {
        case "t": return true
        case "f": return false
        default: throw .malformed
        }
    }

    private func double(_ line: ByteBufferView) throws(RESPParser.Failure) -> Double {
        let text = String(decoding: line, as: UTF8.self)
        let isPlain = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        guard isPlain || ["inf", "+inf", "-inf", "nan", "-nan"].contains(text), let number = Double(text) else {
            throw .malformed
        }
        return number
    }

    /// The number of bytes or elements that follow; `nil` for the null of RESP2.
    private func count(_ line: ByteBufferView) throws(RESPParser.Failure) -> Int? {
        let count = try number(line)
        if count == -1 { return nil }
        if count < 0 { throw .malformed }
        return count
    }

    private mutating func blob(
        _ line: ByteBufferView,
        _ make: ([UInt8]) -> RESPValue
    ) throws(RESPParser.Failure) -> Parsed? {
        guard let count = try count(line) else { return Parsed(value: .null) }
        if count > limits.bytes { throw .tooLarge }
        guard bytes.count - position >= count + 2 else { return nil }
        let start = bytes.startIndex + position
        guard bytes[start + count] == UInt8(ascii: "\r"), bytes[start + count + 1] == UInt8(ascii: "\n") else {
            throw .malformed
        }
        position += count + 2
        return Parsed(value: make(Array(bytes[start..<(start + count)])))
    }

    private mutating func verbatim(_ line: ByteBufferView) throws(RESPParser.Failure) -> Parsed? {
        guard let parsed = try blob(line, { .text($0) }) else { return nil }
        guard case .text(let bytes)? = parsed.value, bytes.count >= 4, bytes[3] == UInt8(ascii: ":") else {
            throw .malformed
        }
        return Parsed(value: .text(Array(bytes.dropFirst(4))))
    }

    /// - Parameter width: how many values each element has.
    private mutating func list(
        _ line: ByteBufferView,
        _ width: Int,
        _ depth: Int,
        _ make: ([RESPValue]) -> RESPValue?
    ) throws(RESPParser.Failure) -> Parsed? {
        guard let count = try count(line) else { return Parsed(value: .null) }
        if count > limits.elements { throw .tooLarge }
        elements += count * width
        if elements > limits.elements { throw .tooLarge }
        var values: [RESPValue] = []
        while values.count < count * width {
            guard let parsed = try value(depth: depth + 1) else { return nil }
            if let value = parsed.value { values.append(value) }
        }
        return Parsed(value: make(values))
    }
}
