/// Gives each name of FileMaker's a Swift name of its own.
///
/// A name that has one keeps it. A new one gets the prettiest that is free: of a type the singular, without a configured prefix,
/// without its symbols, without its table occurrence. Names that would then be the same get these back, in this order, and those
/// that nothing tells apart get numbers: the one that is spelled like its identifier comes first, then the order of bytes counts. So the order in
/// which new names are given plays no role.
struct NameTable {
    private let style: NameStyle
    private let reserved: Set<String>
    private var identifiers: [ExactName: String] = [:]
    /// What was done about names that would have been the same, a sentence for each.
    private(set) var notices: [String] = []

    /// - Parameters:
    ///   - names: the names, each once.
    ///   - kept: the identifiers that some of them have already.
    init(_ names: [String], kept: [(name: String, identifier: String)] = [], style: NameStyle) {
        self.style = style
        reserved = Set(style.reserved.map(style.folded))
        let exact = names.map(ExactName.init)
        let known = Set(exact)
        for (name, identifier) in kept where known.contains(ExactName(name)) {
            identifiers[ExactName(name)] = identifier
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

    /// The identifier of a name that the table was made for.
    subscript(name: String) -> String { identifiers[ExactName(name)] ?? style.fallback }

    // MARK: Candidates

    /// A name, how it is spelled so far, and how it may be spelled, from the prettiest on; `nil` where nothing is left of it.
    private struct Candidate: Comparable {
        var name: ExactName
        var spelling: String
        var spellings: [String?]

        static let steps = 6

        private var isItself: Bool { name.text == spelling }

        static func < (left: Candidate, right: Candidate) -> Bool {
            left.isItself == right.isItself ? left.name < right.name : left.isItself
        }
    }

    private func candidate(_ name: ExactName, at position: Int) -> Candidate {
        let whole = SwiftIdentifier.composed(name.text)
        let qualifier = style.isQualified ? whole.firstRange(of: "::") : nil
        let own = qualifier.map { String(whole[$0.upperBound...]) } ?? whole
        let prefix = style.prefixes.first { own.hasPrefix($0) } ?? ""
        let table = qualifier.map { String(whole[..<$0.upperBound]) } ?? ""
        let owns = [String(own.dropFirst(prefix.count)), own, Self.withSymbols(own)]
        // Of a name that nothing is left of, the table alone would say nothing.
        var texts = owns.map { spelling($0) == nil ? "" : style.showsTable ? table + $0 : $0 }
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

    /// Its last word in the singular; `nil` when it is not in the plural, or nothing may be called so.
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

    /// Spells names at more length, one step after the other, where they would be the same and that helps.
    private func tellApart(_ candidates: inout [Candidate], _ taken: Set<String>) {
        for step in 0..<Candidate.steps {
            let groups = Dictionary(grouping: candidates.indices) { style.folded(candidates[$0].spelling) }
            for (spelling, group) in groups where group.count > 1 || taken.contains(spelling) {
                let longer = group.map { candidates[$0].spellings[step] ?? candidates[$0].spelling }
                let different = Set(longer.map(style.folded)).subtracting(taken)
                // What all of them have at their beginning would only make them longer.
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
    /// What two identifiers must differ in.
    func folded(_ identifier: String) -> String { ignoresCase ? identifier.lowercased() : identifier }
}
