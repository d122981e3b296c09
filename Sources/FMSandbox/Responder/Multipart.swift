/// Parses `multipart/form-data` (RFC 7578).
enum Multipart {
    struct Part: Equatable {
        var name: String
        var filename: String?
        var contentType: String
        var bytes: [UInt8]
    }

    /// The parts of a body; nil if it is not well-formed.
    static func parts(of body: [UInt8], contentType: String) -> [Part]? {
        guard let boundary = parameter("boundary", of: contentType), !boundary.isEmpty else { return nil }
        let delimiter = Array("--\(boundary)".utf8)
        var starts: [Int] = []
        var position = 0
        while let place = body.firstRange(of: delimiter, from: position) {
            position = place + delimiter.count
            // A delimiter starts a line and is followed by the line's end, by `--` or by a space.
            let startsLine = place == 0 || (place >= 2 && body[place - 2] == 0x0D && body[place - 1] == 0x0A)
            let next = body[min(position, body.count)...].prefix(2)
            let endsLine = next.elementsEqual([0x0D, 0x0A]) || next.elementsEqual([0x2D, 0x2D]) || next.first == 0x20
            if startsLine, endsLine { starts.append(place) }
        }
        guard starts.count >= 2 else { return nil }
        var parts: [Part] = []
        for (start, end) in zip(starts, starts.dropFirst()) {
            let content = body[(start + delimiter.count)..<end]
            guard let part = part(content) else { return nil }
            parts.append(part)
        }
        return parts
    }

    private static func part(_ content: ArraySlice<UInt8>) -> Part? {
        let bytes = Array(content)
        guard let lineEnd = bytes.firstRange(of: [0x0D, 0x0A], from: 0), bytes.count >= lineEnd + 4 else { return nil }
        // The empty line ends the headers; there may be no headers before it.
        guard let headEnd = bytes.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A], from: lineEnd) else { return nil }
        // Only CR LF ends a line: a name may contain other Unicode line breaks. Swift treats CR LF as one character.
        let headers = String(decoding: bytes[lineEnd..<headEnd], as: UTF8.self).split(separator: "\r\n")
        var disposition = ""
        var contentType = "application/octet-stream"
        for header in headers {
            let sides = header.split(separator: ":", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { return nil }
            switch sides[0].lowercased() {
            case "content-disposition": disposition = sides[1]
            case "content-type": contentType = sides[1].trimmed
            default: break
            }
        }
        let start = headEnd + 4
        let end = bytes.count - 2
        guard let name = parameter("name", of: disposition), start <= end, bytes[end...] == [0x0D, 0x0A] else {
            return nil
        }
        let filename =
            parameter("filename*", of: disposition).flatMap(extended) ?? parameter("filename", of: disposition)
        return Part(name: name, filename: filename, contentType: contentType, bytes: Array(bytes[start..<end]))
    }

    /// The value of a header's parameter, quoted or not. It works on scalars, because a quote followed by an accent is
    /// one character.
    private static func parameter(_ name: String, of header: String) -> String? {
        var rest = header[...].unicodeScalars
        while let semicolon = rest.firstIndex(of: ";") {
            rest = rest[rest.index(after: semicolon)...].drop { $0 == " " || $0 == "\t" }
            guard let equals = rest.firstIndex(of: "=") else { return nil }
            let key = String(rest[..<equals]).trimmed.lowercased()
            rest = rest[rest.index(after: equals)...]
            var value = String.UnicodeScalarView()
            if rest.first == "\"" {
                rest.removeFirst()
                while let scalar = rest.popFirst(), scalar != "\"" {
                    // Only quotes and backslashes are escaped, so that a Windows path keeps its backslashes.
                    if scalar == "\\", let next = rest.first, next == "\"" || next == "\\" {
                        value.append(rest.removeFirst())
                    } else {
                        value.append(scalar)
                    }
                }
            } else {
                let token = rest.prefix { $0 != ";" }
                rest = rest[token.endIndex...]
                value.append(contentsOf: String(token).trimmed.unicodeScalars)
            }
            if key == name { return String(value) }
        }
        return nil
    }

    /// `UTF-8''na%C3%AFve.jpg` (RFC 8187)
    private static func extended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return PercentCoding.decode(parts[2])
    }
}

extension Array where Element == UInt8 {
    /// The index at which the bytes next occur.
    fileprivate func firstRange(of pattern: [UInt8], from start: Int) -> Int? {
        guard let first = pattern.first, count >= pattern.count else { return nil }
        return withUnsafeBufferPointer { bytes in
            var position = start
            while position <= bytes.count - pattern.count {
                if bytes[position] == first, bytes[position..<position + pattern.count].elementsEqual(pattern) {
                    return position
                }
                position += 1
            }
            return nil
        }
    }
}
