extension String {
    /// Whether the text contains a line end of any kind.
    var hasLineEnds: Bool { utf8.contains { $0 == 0x0D || $0 == 0x0A } }

    /// Whether the text contains line feeds, which FileMaker does not use.
    var hasLineFeeds: Bool { utf8.contains(0x0A) }

    /// The text with FileMaker's line ends: a carriage return replaces each line feed, alone or after a carriage
    /// return.
    var withReturns: String {
        guard hasLineFeeds else { return self }
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for byte in utf8 {
            if byte != 0x0A { bytes.append(byte) } else if last != 0x0D { bytes.append(0x0D) }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
