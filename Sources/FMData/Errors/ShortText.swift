extension String {
    /// What is printed of a text that somebody else wrote, and may have written long.
    var shortened: String {
        // Scalars, not characters: one letter can have any number of accents.
        guard utf8.count > Self.printedBytes else { return self }
        var bytes = 0
        let start = unicodeScalars.prefix { scalar in
            bytes += String(scalar).utf8.count
            return bytes <= Self.printedBytes
        }
        return "\(String(start))… (\(utf8.count) bytes)"
    }

    /// More than any sentence of this library or of FileMaker has.
    private static var printedBytes: Int { 2000 }
}
