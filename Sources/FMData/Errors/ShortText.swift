extension String {
    /// The text as it is printed: cut when it is long, since a text from elsewhere may have any length.
    var shortened: String {
        // Counted by scalars, not by characters: one letter can have any number of accents.
        guard utf8.count > Self.printedBytes else { return self }
        var bytes = 0
        let start = unicodeScalars.prefix { scalar in
            bytes += String(scalar).utf8.count
            return bytes <= Self.printedBytes
        }
        return "\(String(start))… (\(utf8.count) bytes)"
    }

    /// The longest text that is printed whole, in bytes: longer than any sentence of this library or of FileMaker.
    private static var printedBytes: Int { 2000 }
}
