import Foundation

/// The value of a key field, as it is on the wire, and what it may be equal to.
///
/// Which values equal a key is the host's word: it finds them, by the type and the index language of the field, which nobody
/// here knows. What is left is to tell whose they are. Two keys are *alike* when a host might find the same value for both: as
/// the same number, or as the same text without regard to case, accents, width of letters, and space around it. Keys that are
/// alike are looked for in separate finds, so that each value that was found has one key that it can be for.
struct JoinKey: Hashable {
    /// The same for all keys that are alike.
    enum Likeness: Hashable {
        case number(NumberText.Canonical)
        case text(String)
    }

    let text: String
    let likeness: Likeness

    /// `nil` for a field without a value, which belongs to nobody.
    init?(_ value: WireValue?) {
        switch value {
        case .text(let text): self.init(text: text)
        case .literal(let literal) where literal != "null": self.init(text: literal)
        default: return nil
        }
    }

    private init?(text: String) {
        let content = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !content.isEmpty else { return nil }
        self.text = text
        likeness = Self.number(content).map(Likeness.number) ?? .text(Self.folded(content))
    }

    private static func number(_ text: String) -> NumberText.Canonical? {
        var text = text
        let literal = text.withUTF8 { NumberText.literal(of: $0, separator: UInt8(ascii: ".")) }
        guard var literal else { return nil }
        return literal.withUTF8 { NumberText.canonical($0) }
    }

    private static func folded(_ text: String) -> String {
        // In upper case also what has no lower case of its own, as "ß" and "ss".
        text.uppercased().folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}

/// The keys of a group of values, as they are looked for: in as few finds as there are keys that are alike.
struct JoinKeys<Key> {
    /// One find: the keys, and the values that each of them is the key of.
    struct Round {
        var keys: [Key] = []
        /// The places of the values in their group.
        var owners: [JoinKey.Likeness: [Int]] = [:]
    }

    private(set) var rounds: [Round] = []

    /// - Parameter keys: of each value of the group, in their order; `nil` for one that has none.
    init(_ keys: [(key: Key, name: JoinKey)?]) {
        var places: [JoinKey: Int] = [:]
        var likes: [JoinKey.Likeness: Int] = [:]
        for (owner, key) in keys.enumerated() {
            guard let key else { continue }
            if let round = places[key.name] {
                rounds[round].owners[key.name.likeness]?.append(owner)
                continue
            }
            let round = likes[key.name.likeness, default: 0]
            likes[key.name.likeness] = round + 1
            places[key.name] = round
            if round == rounds.count { rounds.append(Round()) }
            rounds[round].keys.append(key.key)
            rounds[round].owners[key.name.likeness] = [owner]
        }
    }
}
