import Foundation

/// The value of a key field, as it is on the wire, and what it may be equal to.
///
/// Which values equal a key is the host's word: it finds them, by the type and the index language of the field, which nobody
/// here knows. What is left is to tell whose they are. Two keys are *alike* when a host might find the same value for both: as
/// the same number, or as the same text without regard to case, accents, width of letters, and space around it. Keys that are
/// alike are looked for in separate finds, so that each value that was found has one key that it can be for.
///
/// A field of numbers takes any text for the number in it, "5 kg" for 5. So such a key and the number are looked for in separate
/// finds too. Two such texts are not, since codes like "A1" and "B1" come by the hundred, in fields of text: where a field of
/// numbers has a 1, it is for both of them.
///
/// What a host finds that is like none of its keys, by rules that are not known here, is looked for once more, by each key alone.
struct JoinKey: Hashable {
    /// The same for all keys that are alike.
    enum Likeness: Hashable {
        case number(NumberText.Canonical)
        case text(String)
    }

    let text: String
    let likeness: Likeness
    /// What a field of numbers takes a text for that is none; `nil` without a digit, and for a number.
    let reading: NumberText.Canonical?

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
        if let number = Self.number(content) {
            likeness = .number(number)
            reading = nil
        } else {
            likeness = .text(Self.folded(content))
            reading = Self.reading(content)
        }
    }

    private static func number(_ text: String) -> NumberText.Canonical? {
        var text = text
        let literal = text.withUTF8 { NumberText.literal(of: $0, separator: UInt8(ascii: ".")) }
        guard var literal else { return nil }
        return literal.withUTF8 { NumberText.canonical($0) }
    }

    private static func reading(_ text: String) -> NumberText.Canonical? {
        guard text.utf8.contains(where: { $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        return FMNumber(text)?.canonical
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
        private(set) var keys: [Key] = []
        private var names: [JoinKey] = []
        /// The places of the values in their group.
        private var owners: [JoinKey.Likeness: [Int]] = [:]
        /// The texts that are the same to a field of numbers.
        private var texts: [NumberText.Canonical: [JoinKey.Likeness]] = [:]

        /// Whether a host might find the same value for another key of the round.
        fileprivate func hasAlike(_ key: JoinKey) -> Bool {
            if owners[key.likeness] != nil { return true }
            if case .number(let number) = key.likeness { return texts[number] != nil }
            return key.reading.map { owners[.number($0)] != nil } ?? false
        }

        fileprivate mutating func add(_ key: Key, _ name: JoinKey, of owners: [Int]) {
            keys.append(key)
            names.append(name)
            self.owners[name.likeness] = owners
            if let reading = name.reading { texts[reading, default: []].append(name.likeness) }
        }

        fileprivate mutating func add(_ owner: Int, to name: JoinKey) {
            owners[name.likeness]?.append(owner)
        }

        /// The places of the values that a record with this key belongs to; `nil` when it is like none of several keys.
        func owners(of key: JoinKey) -> [Int]? {
            // What was found by one key is its own, whatever it looks like.
            if let only = names.first, names.count == 1 { return owners[only.likeness] }
            if let owners = owners[key.likeness] { return owners }
            // The host has found it all the same: its field is one of numbers.
            let number = if case .number(let number) = key.likeness { number } else { key.reading }
            guard let number else { return nil }
            if let owners = owners[.number(number)] { return owners }
            return texts[number].map { $0.flatMap { owners[$0] ?? [] }.sorted() }
        }

        /// Each of its keys in a find of its own.
        var apart: [Round] {
            zip(keys, names).map { key, name in
                var round = Round()
                round.add(key, name, of: owners[name.likeness] ?? [])
                return round
            }
        }
    }

    private(set) var rounds: [Round] = []

    /// - Parameter keys: of each value of the group, in their order; `nil` for one that has none.
    init(_ keys: [(key: Key, name: JoinKey)?]) {
        var places: [String: Int] = [:]
        for (owner, key) in keys.enumerated() {
            guard let key else { continue }
            if let round = places[key.name.text] {
                rounds[round].add(owner, to: key.name)
                continue
            }
            let round = rounds.firstIndex { !$0.hasAlike(key.name) } ?? rounds.endIndex
            if round == rounds.endIndex { rounds.append(Round()) }
            places[key.name.text] = round
            rounds[round].add(key.key, key.name, of: [owner])
        }
    }
}
