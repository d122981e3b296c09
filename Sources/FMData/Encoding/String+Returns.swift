extension String {
    /// Whether a line ends in it, by whatever character.
    var hasLineEnds: Bool { utf8.contains { $0 == 0x0D || $0 == 0x0A } }

    /// Whether a line ends in it as FileMaker ends none.
    var hasLineFeeds: Bool { utf8.contains(0x0A) }

    /// With lines that end as FileMaker ends them: in a carriage return, for a line feed and for both together.
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
