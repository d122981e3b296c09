/// A pattern for a whole value: texts in order, with anything between them.
///
/// A value that fits two patterns at once fits one of a few other patterns: a value that begins with `ab` and ends with
/// `ba` is `ab*ba` or `aba`. FileMaker treats several requests as alternatives, so patterns that must hold together can
/// be expressed in this way.
struct FindGlob: Hashable {
    private enum Element: Hashable {
        case literal(Unicode.Scalar)
        case anyRun
    }

    private var elements: [Element]

    /// `nil` for a test that is not a pattern.
    init?(_ test: FindTest) {
        switch test {
        case .matches(.begins, let text): elements = Self.literals(text) + [.anyRun]
        case .matches(.contains, let text): elements = [.anyRun] + Self.literals(text) + [.anyRun]
        case .matches(.ends, let text): elements = [.anyRun] + Self.literals(text)
        default: return nil
        }
    }

    private static func literals(_ escaped: String) -> [Element] {
        FindText.unescaped(escaped).unicodeScalars.map(Element.literal)
    }

    /// Alternative tests: each value that passes all of the given tests passes one of them, and no other value does.
    /// `nil` if this depends on how the host folds letters, or if there are too many.
    static func alternatives(to tests: [FindTest]) -> [FindTest]? {
        let globs = tests.compactMap(FindGlob.init)
        guard globs.count == tests.count, tests.count > 1 else { return nil }
        var common: Set<[Element]> = [globs[0].elements]
        for glob in globs.dropFirst() {
            var next: Set<[Element]> = []
            for elements in common {
                var memory: [PositionPair: Set<[Element]>?] = [:]
                let found = intersection(elements[...], glob.elements[...], &memory)
                guard let found, next.union(found).count <= 16 else { return nil }
                next.formUnion(found)
            }
            common = next
        }
        let fewest = common.filter { elements in !common.contains { $0 != elements && covers($0, elements) } }
        guard fewest.count <= 4 else { return nil }
        var found: [FindTest] = []
        for elements in fewest.sorted(by: { ($0.count, "\($0)") < ($1.count, "\($1)") }) {
            let pieces = elements.split(separator: .anyRun, omittingEmptySubsequences: false).map(text)
            // A pattern without any run is a whole value, which a number field would compare as a number.
            if pieces.count == 1, pieces[0].unicodeScalars.contains(where: { $0.properties.numericType != nil }) {
                return nil
            }
            found.append(.fits(pieces.map(FindText.escaped)))
        }
        return found
    }

    private static func text(_ elements: ArraySlice<Element>) -> String {
        var text = String.UnicodeScalarView()
        for case .literal(let scalar) in elements { text.append(scalar) }
        return String(text)
    }

    private struct PositionPair: Hashable {
        var left: Int
        var right: Int
    }

    /// The patterns for values that fit both, element by element; `nil` if that is unknown.
    private static func intersection(
        _ left: ArraySlice<Element>,
        _ right: ArraySlice<Element>,
        _ memory: inout [PositionPair: Set<[Element]>?]
    ) -> Set<[Element]>? {
        let place = PositionPair(left: left.startIndex, right: right.startIndex)
        if let known = memory[place] { return known }
        func found() -> Set<[Element]>? {
            switch (left.first, right.first) {
            case (nil, nil): return [[]]
            case (.literal(let one), .literal(let other)):
                guard one == other else { return areApart(one, other) ? [] : nil }
                return prefixed(.literal(one), intersection(left.dropFirst(), right.dropFirst(), &memory))
            case (.anyRun, .anyRun):
                return prefixed(
                    .anyRun,
                    union(
                        intersection(left.dropFirst(), right, &memory),
                        intersection(left, right.dropFirst(), &memory)
                    )
                )
            case (.anyRun, .literal(let scalar)):
                return union(
                    intersection(left.dropFirst(), right, &memory),
                    prefixed(.literal(scalar), intersection(left, right.dropFirst(), &memory))
                )
            case (.literal(let scalar), .anyRun):
                return union(
                    intersection(left, right.dropFirst(), &memory),
                    prefixed(.literal(scalar), intersection(left.dropFirst(), right, &memory))
                )
            case (.anyRun, nil): return intersection(left.dropFirst(), right, &memory)
            case (nil, .anyRun): return intersection(left, right.dropFirst(), &memory)
            case (nil, .literal), (.literal, nil): return []
            }
        }
        let result = found()
        memory[place] = .some(result)
        return result
    }

    private static func union(_ one: Set<[Element]>?, _ other: Set<[Element]>?) -> Set<[Element]>? {
        guard let one, let other, one.count + other.count <= 64 else { return nil }
        return one.union(other)
    }

    private static func prefixed(_ element: Element, _ patterns: Set<[Element]>?) -> Set<[Element]>? {
        patterns.map {
            Set(
                $0.map { pattern in
                    // Two runs in a row have the same meaning as one.
                    element == .anyRun && pattern.first == .anyRun ? pattern : [element] + pattern
                }
            )
        }
    }

    /// Whether two ASCII letters differ in more than case. Other letters may be the same to a host.
    private static func areApart(_ one: Unicode.Scalar, _ other: Unicode.Scalar) -> Bool {
        one.isASCII && other.isASCII && one.properties.lowercaseMapping != other.properties.lowercaseMapping
    }

    /// Whether every value that fits the other pattern also fits the first.
    private static func covers(_ one: [Element], _ other: [Element]) -> Bool {
        func fits(_ pattern: ArraySlice<Element>, _ text: ArraySlice<Element>) -> Bool {
            switch pattern.first {
            case nil: text.isEmpty
            case .anyRun: (text.startIndex...text.endIndex).contains { fits(pattern.dropFirst(), text[$0...]) }
            case .literal(let scalar):
                text.first == .literal(scalar) && fits(pattern.dropFirst(), text.dropFirst())
            }
        }
        return fits(one[...], other[...])
    }
}
