/// Finds the English singular of a word: layouts are named `Orders`, and each of their records is an `Order`.
///
/// Words of other languages, and words that only look like a plural, are kept where that can be recognized. A proposed
/// name is reported at once, and the user can change it in the snapshot.
enum Singular {
    private static let irregular = [
        "people": "person", "children": "child", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth",
        "mice": "mouse", "geese": "goose", "indices": "index", "matrices": "matrix", "vertices": "vertex",
        "appendices": "appendix", "criteria": "criterion", "analyses": "analysis", "bases": "base", "crises": "crisis",
        "theses": "thesis", "diagnoses": "diagnosis", "shelves": "shelf", "halves": "half", "wolves": "wolf",
        "leaves": "leaf", "knives": "knife", "lives": "life", "wives": "wife", "movies": "movie", "cookies": "cookie",
        "quizzes": "quiz", "caches": "cache", "headaches": "headache", "heroes": "hero", "potatoes": "potato",
        "tomatoes": "tomato", "echoes": "echo", "vetoes": "veto", "buses": "bus", "gases": "gas", "lenses": "lens",
        "aliases": "alias", "atlases": "atlas", "biases": "bias", "canvases": "canvas", "axes": "axis",
    ]

    /// Singulars that end like plurals, and words that are both.
    private static let unchanged: Set<String> = [
        "series", "species", "news", "goods", "means", "lens", "alias", "atlas", "bias", "canvas", "always", "perhaps",
        "chaos", "cosmos", "mathematics", "physics", "economics", "logistics", "politics", "electronics", "statistics",
        "analytics", "athletics", "headquarters", "whereas", "pants", "trousers", "scissors", "glasses", "clothes",
        "thanks", "premises", "proceeds", "earnings", "savings", "ananas", "pass",
    ]

    /// The singular of a word; `nil` if the word is not a plural or the form is ambiguous.
    static func of(_ word: String) -> String? {
        let lower = word.lowercased()
        guard lower.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }),
            !unchanged.contains(lower)
        else { return nil }
        if let singular = irregular[lower] {
            // Keep the case of the first letter.
            return word.first?.isUppercase == true ? singular.prefix(1).uppercased() + singular.dropFirst() : singular
        }
        guard lower.count > 3, lower.hasSuffix("s") else { return nil }
        // Words such as Address, Status, Analysis are singulars.
        for ending in ["ss", "us", "is"] where lower.hasSuffix(ending) { return nil }
        if lower.hasSuffix("as"), lower.count < 5 { return nil }
        if lower.hasSuffix("ies"), lower.count > 4 { return "\(word.dropLast(3))y" }
        let hisses = ["sses", "shes", "ches", "xes", "tuses", "nuses", "puses", "ruses"]
        return String(word.dropLast(hisses.contains(where: lower.hasSuffix) ? 2 : 1))
    }
}
