/// A find over numbered tests, each test once, in the order of their first appearance.
struct FindFormula {
    indirect enum Node {
        case test(Int)
        case not(Node)
        case and([Node])
        case or([Node])
    }

    private(set) var criteria: [FindCriterion] = []
    private(set) var root = Node.or([])
    private var numbers: [FindCriterion: Int] = [:]

    init(_ expression: FindExpression) throws(DataAPI.FindError) {
        let repeating = expression.fieldsWithManyValues
        root = try node(expression, repeating)
    }

    private mutating func node(
        _ expression: FindExpression,
        _ repeating: Set<String>
    ) throws(DataAPI.FindError) -> Node {
        switch expression {
        case .unusable(let error): throw error
        case .test(var criterion):
            // If a field has several values in one place of the find, it has several values in all places.
            if repeating.contains(criterion.field) { criterion.values = .any }
            return .test(number(of: criterion))
        case .not(let inner): return .not(try node(inner, repeating))
        case .and(let parts): return .and(try nodes(parts, repeating))
        case .or(let parts): return .or(try nodes(parts, repeating))
        }
    }

    private mutating func nodes(
        _ expressions: [FindExpression],
        _ repeating: Set<String>
    ) throws(DataAPI.FindError) -> [Node] {
        var nodes: [Node] = []
        for expression in expressions { nodes.append(try node(expression, repeating)) }
        return nodes
    }

    mutating func number(of criterion: FindCriterion) -> Int {
        if let number = numbers[criterion] { return number }
        numbers[criterion] = criteria.count
        criteria.append(criterion)
        return criteria.count - 1
    }
}

extension FindExpression {
    var fieldsWithManyValues: Set<String> {
        switch self {
        case .test(let criterion): criterion.values == .any ? [criterion.field] : []
        case .not(let inner): inner.fieldsWithManyValues
        case .and(let parts), .or(let parts):
            parts.reduce(into: []) { fields, part in
                if case .test(let criterion) = part, criterion.values == .one { return }
                fields.formUnion(part.fieldsWithManyValues)
            }
        case .unusable: []
        }
    }
}
