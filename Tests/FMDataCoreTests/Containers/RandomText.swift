extension String {
    /// Random Unicode scalars without NUL; those with a meaning in headers, URLs and finds are frequent.
    static func random(length: ClosedRange<Int>, using generator: inout some RandomNumberGenerator) -> String {
        let special = Array("\"\\\r\n\t%;:=/?&+#@*!<>~{}.…≤≥ '()[]aZ09\u{301}é世🚢\u{7F}\u{1}\u{2028}".unicodeScalars)
        var scalars = UnicodeScalarView()
        for _ in 0..<Int.random(in: length, using: &generator) {
            if Bool.random(using: &generator), let scalar = special.randomElement(using: &generator) {
                scalars.append(scalar)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &generator)) {
                scalars.append(scalar)
            }
        }
        return scalars.isEmpty ? "x" : String(scalars)
    }

    /// A random text that can be the name of a file.
    static func randomFileName(using generator: inout some RandomNumberGenerator) -> String {
        let scalars = random(length: 1...12, using: &generator).unicodeScalars.filter { $0 != "\r" && $0 != "\n" }
        return scalars.isEmpty ? "x" : String(String.UnicodeScalarView(scalars))
    }
}
