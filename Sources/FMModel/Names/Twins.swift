/// Names that look the same to people, or that an answer uses for two things. A model with them is correct, but its
/// user should know. Unlike notices about Swift names, these are reported every time.
enum Twins {
    /// Notices about names of one kind that differ only in their Unicode form.
    ///
    /// - Parameter kind: The kind of the names, in the plural.
    static func notices(of names: [String], _ kind: String) -> [String] {
        var groups: [SchemaName: [String]] = [:]
        for name in names { groups[SchemaName(SwiftIdentifier.composed(name)), default: []].append(name) }
        return groups.filter { $1.count > 1 }.sorted { $0.key < $1.key }.map { _, names in
            let list = names.sorted { SchemaName($0) < SchemaName($1) }.map { Literal($0).description }
            return
                "\(kind) \(list.joined(separator: " and ")) look the same: they differ in their form in Unicode alone"
        }
    }

    /// Notices about fields: the same, and names that look like a repetition of another field.
    static func notices(of fields: [FieldDescription]) -> [String] {
        let names = Set(fields.map { SchemaName($0.name) })
        let repetitions = fields.filter(\.isRepeated).flatMap { field in
            field.shown.compactMap { number -> String? in
                let name = "\(field.name)(\(number))"
                guard names.contains(SchemaName(name)) else { return nil }
                return
                    "field \(Literal(name)) is called like repetition \(number) of \(Literal(field.name)): an answer cannot tell "
                    + "them apart"
            }
        }
        return notices(of: fields.map(\.name), "fields") + repetitions
    }
}
