/// The reason why a find is refused, with the smallest example: the find without all parts that can be left out while
/// it is still refused for the same reason.
struct FindRefusal {
    let error: DataAPI.FindError

    init(of expression: FindExpression, _ error: DataAPI.FindError, by compiler: FindCompiler) {
        guard [.sameField, .tooManyRequests, .tooComplex].contains(error.code) else {
            self.error = error
            return
        }
        var compiler = compiler
        // The example is the smallest find that needs more than one call, regardless of the number of calls allowed.
        compiler.maximumCalls = 1
        var smallest = expression
        // Each attempt compiles a find, which takes time for a large find.
        var attempts = 0
        let maximumAttempts = error.code == .sameField ? 100 : 25
        func isRefused(_ expression: FindExpression) -> Bool {
            attempts += 1
            guard attempts <= maximumAttempts else { return false }
            do throws(DataAPI.FindError) {
                _ = try compiler.compile(expression)
                return false
            } catch let other {
                return other.code == error.code
            }
        }
        while let smaller = smallest.smaller.first(where: isRefused) { smallest = smaller }
        let example = FindExample(smallest)
        var description = "\(error.description) The smallest example: \(example.text)."
        if let field = example.fieldWithManyValues {
            description += " Different values of \(field) may fulfil its conditions; isIn(_:) asks for one between two."
        }
        self.error = DataAPI.FindError(error.code, description, example: example.text)
    }
}

extension FindExpression {
    /// The same find with one part left out, in every possible way, the large parts first.
    fileprivate var smaller: [FindExpression] {
        switch self {
        case .test, .unusable: []
        case .not(.not(let inner)): [inner]
        case .not(let inner): [inner] + inner.smaller.map { .not($0) }
        case .and(let parts): Self.smaller(parts) { .and($0) }
        case .or(let parts): Self.smaller(parts) { .or($0) }
        }
    }

    private static func smaller(
        _ parts: [FindExpression],
        _ join: ([FindExpression]) -> FindExpression
    ) -> [FindExpression] {
        var found: [FindExpression] = []
        var size = (parts.count + 1) / 2
        // In a long list, parts smaller than a sixteenth are not tried, because each attempt compiles a find.
        while size > parts.count / 16 {
            for start in stride(from: 0, to: parts.count, by: size) {
                let rest = Array(parts[..<start] + parts[min(start + size, parts.count)...])
                if !rest.isEmpty { found.append(rest.count == 1 ? rest[0] : join(rest)) }
            }
            size /= 2
        }
        // The parts of a long list are similar, like those of isOneOf, so they are not reduced one by one.
        guard parts.count <= 16 else { return found }
        for index in parts.indices {
            found += parts[index].smaller.map { smaller in
                var parts = parts
                parts[index] = smaller
                return join(parts)
            }
        }
        return found
    }
}

/// A find in words, without its values.
struct FindExample {
    let text: String
    private(set) var fieldWithManyValues: String?

    init(_ expression: FindExpression) {
        text = Self.words(expression, isPart: false)
        fieldWithManyValues = expression.fieldsWithManyValues.min()
    }

    private static func words(_ expression: FindExpression, isPart: Bool) -> String {
        switch expression {
        case .test(let criterion): words(criterion)
        case .not(let inner): "not \(words(inner, isPart: true))"
        case .and(let parts): list(parts, " and ", isPart)
        case .or(let parts): list(parts, " or ", isPart)
        case .unusable: "a condition without a value"
        }
    }

    private static func words(_ criterion: FindCriterion) -> String {
        "\(criterion.field) \(verb(criterion.test))"
    }

    /// Parts with the same words, like those of `isOneOf`, are counted.
    private static func list(_ parts: [FindExpression], _ joint: String, _ isPart: Bool) -> String {
        let words = parts.map { Self.words($0, isPart: true) }
        var texts: [String] = []
        var counts: [String: Int] = [:]
        for text in words {
            if counts.updateValue(counts[text, default: 0] + 1, forKey: text) == nil { texts.append(text) }
        }
        let list = texts.map { counts[$0, default: 1] > 3 ? "\($0) (\(counts[$0, default: 1]) such)" : $0 }
        let repeated = zip(texts, list).flatMap { text, listed in
            Array(repeating: listed, count: listed == text ? counts[text, default: 1] : 1)
        }
        let joined = repeated.joined(separator: joint)
        return isPart && repeated.count > 1 ? "(\(joined))" : joined
    }

    private static func verb(_ test: FindTest) -> String {
        switch test {
        case .equals: "is …"
        case .matches(.begins, _): "begins with …"
        case .matches(.contains, _): "contains …"
        case .matches(.ends, _): "ends with …"
        case .fits: "has the form …"
        case .words: "has the words …"
        case .compares(.less, _): "is less than …"
        case .compares(.lessOrEqual, _): "is at most …"
        case .compares(.greater, _): "is greater than …"
        case .compares(.greaterOrEqual, _): "is at least …"
        case .range: "is from … to …"
        case .isEmpty: "is empty"
        case .isNotEmpty: "is not empty"
        case .isDuplicated: "has the value of another record"
        case .isToday: "is today"
        case .raw: "matches a criterion"
        }
    }
}
