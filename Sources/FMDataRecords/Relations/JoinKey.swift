import FMDataCore
import Foundation

/// The value of a key field as it is encoded, and what it may be equal to.
///
/// Which records equal a key is decided by the host: its find compares by the type and the index language of the field,
/// which are not known here. What remains is to assign the records found to their keys. Two keys are *alike* when a
/// host might find the same record for both: because they are the same number, or the same text without regard to case,
/// accents, width of letters, and surrounding space. Keys that are alike are put into separate finds, so that each
/// record found can belong to only one key.
///
/// A number field takes any text for the number in it, "5 kg" for 5. So such a key and the number are put into separate
/// finds too. Two such texts are not, since text fields have hundreds of codes like "A1" and "B1": if the field is a
/// number field and contains 1, the record belongs to both.
///
/// If a host finds a record that is like none of the keys, by rules that are not known here, each key is looked for
/// again in a find of its own.
struct JoinKey: Hashable {
    /// Equal for all keys that are alike.
    enum Likeness: Hashable {
        case number(NumberText.Canonical)
        case text(String)
    }

    let text: String
    let likeness: Likeness
    /// The number that a number field takes a text for; `nil` for a text without a digit, and for a number.
    let reading: NumberText.Canonical?

    /// Returns `nil` for a field without a value, which belongs to no key.
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
        // Upper case first, so that letters without an upper case of their own are alike too: "ß" becomes "SS".
        text.uppercased().folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}

/// The keys of a group of values, divided into as few finds as possible so that no find has keys that are alike.
struct JoinKeys<Key> {
    /// One find: its keys, and the values that have each key.
    struct Round {
        private(set) var keys: [Key] = []
        private var names: [JoinKey] = []
        /// The indices of the values in their group.
        private var owners: [JoinKey.Likeness: [Int]] = [:]
        /// The texts that a number field takes for the same number.
        private var texts: [NumberText.Canonical: [JoinKey.Likeness]] = [:]

        /// Whether a host might find the same record for another key of the round.
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

        /// The indices of the values that a record with this key belongs to; `nil` when it is like none of several
        /// keys.
        func owners(of key: JoinKey) -> [Int]? {
            // In a find by a single key, every record found belongs to it, whatever its field contains.
            if let only = names.first, names.count == 1 { return owners[only.likeness] }
            if let owners = owners[key.likeness] { return owners }
            // The host has found the record nevertheless, so the field is a number field.
            let number = if case .number(let number) = key.likeness { number } else { key.reading }
            guard let number else { return nil }
            if let owners = owners[.number(number)] { return owners }
            return texts[number].map { $0.flatMap { owners[$0] ?? [] }.sorted() }
        }

        /// Each of the keys in a find of its own.
        var apart: [Round] {
            zip(keys, names).map { key, name in
                var round = Round()
                round.add(key, name, of: owners[name.likeness] ?? [])
                return round
            }
        }
    }

    private(set) var rounds: [Round] = []

    /// - Parameter keys: the key of each value of the group, in their order; `nil` for a value without key.
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
