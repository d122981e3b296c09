/// Names that a person sees as one, or that an answer has for two things: nothing is wrong with a model of them, but whoever
/// fetches one should know. Unlike what is said of Swift names, it is said each time.
enum Twins {
    /// Of names of one kind, those that differ in their form in Unicode alone.
    ///
    /// - Parameter kind: what they are, in the plural.
    static func notices(of names: [String], _ kind: String) -> [String] {
        var groups: [ExactName: [String]] = [:]
        for name in names { groups[ExactName(SwiftIdentifier.composed(name)), default: []].append(name) }
        return groups.filter { $1.count > 1 }.sorted { $0.key < $1.key }.map { _, names in
            let list = names.sorted { ExactName($0) < ExactName($1) }.map { Literal($0).description }
            return
                "\(kind) \(list.joined(separator: " and ")) look the same: they differ in their form in Unicode alone"
        }
    }

    /// Of fields, these and those that are called like a repetition of another one.
    static func notices(of fields: [FieldDescription]) -> [String] {
        let names = Set(fields.map { ExactName($0.name) })
        let repetitions = fields.filter(\.isRepeated).flatMap { field in
            field.shown.compactMap { number -> String? in
                let name = "\(field.name)(\(number))"
                guard names.contains(ExactName(name)) else { return nil }
                return
                    "field \(Literal(name)) is called like repetition \(number) of \(Literal(field.name)): an answer cannot tell "
                    + "them apart"
            }
        }
        return notices(of: fields.map(\.name), "fields") + repetitions
    }
}
