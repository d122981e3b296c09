/// Gives each FileMaker name a unique Swift identifier.
///
/// A name that has an identifier keeps it. A new name gets the shortest form that is free: for a type the singular, and
/// without a configured prefix, without symbols, without table occurrence. Names that would have the same identifier
/// get these parts back, in this order. Names that are still equal get numbers: the name that is spelled like its
/// identifier comes first, then the order of bytes decides. So the order of new names does not matter.
struct NameTable {
    private let style: NameStyle
    private let reserved: Set<String>
    private var identifiers: [SchemaName: String] = [:]
    /// Notices about names that would have had the same identifier, one sentence each.
    private(set) var notices: [String] = []

    /// - Parameters:
    ///   - names: The names, without repetitions.
    ///   - kept: The existing identifiers of some of the names.
    init(_ names: [String], kept: [(name: String, identifier: String)] = [], style: NameStyle) {
        self.style = style
        reserved = Set(style.reserved.map(style.folded))
        let exact = names.map(SchemaName.init)
        let known = Set(exact)
        for (name, identifier) in kept where known.contains(SchemaName(name)) {
            identifiers[SchemaName(name)] = identifier
        }
        var taken = Set(identifiers.values.map(style.folded)).union(reserved)
        var candidates = exact.enumerated().filter { identifiers[$1] == nil }.map { candidate($1, at: $0 + 1) }
        tellApart(&candidates, taken)
        for candidate in candidates.sorted() {
            let identifier = free(candidate.spelling, taken)
            if identifier != candidate.spelling {
                notices.append("\(Literal(candidate.name.text)) is \(identifier): \(candidate.spelling) is taken")
            }
            taken.insert(style.folded(identifier))
            identifiers[candidate.name] = identifier
        }
    }

    /// The identifier of one of the table's names.
    subscript(name: String) -> String { identifiers[SchemaName(name)] ?? style.fallback }

    // MARK: Candidates

    /// A name, its current identifier, and its possible identifiers in the order of preference; `nil` where nothing is
    /// left of the name.
    private struct Candidate: Comparable {
        var name: SchemaName
        var spelling: String
        var spellings: [String?]

        static let steps = 6

        private var isItself: Bool { name.text == spelling }

        static func < (left: Candidate, right: Candidate) -> Bool {
            left.isItself == right.isItself ? left.name < right.name : left.isItself
        }
    }

    private func candidate(_ name: SchemaName, at position: Int) -> Candidate {
        let whole = SwiftIdentifier.composed(name.text)
        let qualifier = style.isQualified ? whole.firstRange(of: "::") : nil
        let own = qualifier.map { String(whole[$0.upperBound...]) } ?? whole
        let prefix = style.prefixes.first { own.hasPrefix($0) } ?? ""
        let table = qualifier.map { String(whole[..<$0.upperBound]) } ?? ""
        let showsTable = style.showsTable && FieldDescription(name.text).table != style.ownTable
        let owns = [String(own.dropFirst(prefix.count)), own, Self.withSymbols(own)]
        // If nothing is left of the field's own name, the table alone would be meaningless.
        var texts = owns.map { spelling($0) == nil ? "" : showsTable ? table + $0 : $0 }
        if spelling(own) != nil { texts.append(whole) }
        if spelling(Self.withSymbols(own)) != nil { texts.append(Self.withSymbols(whole)) }
        var spellings = [style.isSingular ? singular(own) : nil] + texts.map(spelling)
        spellings += [String?](repeating: nil, count: Candidate.steps - spellings.count)
        let prettiest = spellings.lazy.compactMap(\.self).first
        return Candidate(name: name, spelling: prettiest ?? "\(style.fallback)\(position)", spellings: spellings)
    }

    private func spelling(_ text: String) -> String? { spelling(NameWords(text)) }

    private func spelling(_ words: NameWords) -> String? {
        var spelling = style.letterCase == .lower ? words.lowerCamel : words.upperCamel
        guard let first = spelling.unicodeScalars.first else { return nil }
        if !SwiftIdentifier.isHead(first) { spelling = "_" + spelling }
        if reserved.contains(style.folded(spelling)) { spelling += style.suffix }
        return SwiftIdentifier.isValid(spelling) ? spelling : nil
    }

    /// The identifier with the last word in the singular; `nil` if it is not a plural or the singular is reserved.
    private func singular(_ text: String) -> String? {
        guard let words = NameWords(text).singular, !reserved.contains(style.folded(words.upperCamel)) else {
            return nil
        }
        return spelling(words)
    }

    private static func withSymbols(_ text: String) -> String {
        let words: [Character: String] = [
            "%": "Percent", "#": "Number", "€": "Euro", "$": "Dollar", "+": "Plus", "&": "And",
        ]
        return text.map { character in words[character].map { " \($0) " } ?? String(character) }.joined()
    }

    /// Gives names with equal identifiers longer ones, one step after the other, where that makes them different.
    private func tellApart(_ candidates: inout [Candidate], _ taken: Set<String>) {
        for step in 0..<Candidate.steps {
            let groups = Dictionary(grouping: candidates.indices) { style.folded(candidates[$0].spelling) }
            for (spelling, group) in groups where group.count > 1 || taken.contains(spelling) {
                let longer = group.map { candidates[$0].spellings[step] ?? candidates[$0].spelling }
                let different = Set(longer.map(style.folded)).subtracting(taken)
                // A part that all of them have would only make them longer.
                guard different.count > 1 || group.count == 1 && !different.isEmpty else { continue }
                for (index, spelling) in zip(group, longer) { candidates[index].spelling = spelling }
            }
        }
    }

    private func free(_ wanted: String, _ taken: Set<String>) -> String {
        var identifier = wanted
        var number = 2
        while taken.contains(style.folded(identifier)) {
            identifier = "\(wanted)_\(number)"
            number += 1
        }
        return identifier
    }
}

extension NameStyle {
    /// The form of an identifier that must be unique.
    func folded(_ identifier: String) -> String { ignoresCase ? identifier.lowercased() : identifier }
}
