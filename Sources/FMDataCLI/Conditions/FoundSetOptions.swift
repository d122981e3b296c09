import ArgumentParser
import FMData
import FMSandbox

/// The records of a layout that a command is about: conditions, and their order.
struct FoundSetOptions: ParsableArguments {
    @Argument(help: "The layout.", completion: .layouts)
    var layout: String

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "Conditions, with --or and --omit between them; all records without one.",
            discussion: """
                City=Calgary     the whole value; City= is empty, City!= is not
                'Total>=100'     also < <= > and !=
                Date=2026-11-01...2026-11-30
                                 a range of numbers, dates or times; Date=2026-11 is that month, Date=2026 that year
                Name^=Mc         begins with; $= ends with, *= contains, ~= has words that begin so
                Lines::Item=A-7  a field of a related table
                Dates are written as 2026-11-01. Conditions beside each other must all hold. --or begins other conditions, whose \
                records are found as well; --omit begins conditions whose records are left out of those found so far.
                """,
            valueName: "condition"
        ),
        completion: .fields("=")
    )
    var conditions: [String] = []

    @Flag(help: "Take what stands behind = as FileMaker's own criterion, with its operators: 'City=Cal*'.")
    var raw = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Sort by fields: City,-Total. A minus sorts descending, Size:Sizes in the order of the value list Sizes.",
            valueName: "fields"
        ),
        completion: .fields
    )
    var sort: [String] = []

    /// The find of the conditions; nil for all records. Throws if a field is not on the layout, or a value is none of
    /// its field's type.
    func find(_ fields: LayoutFields) throws -> DataAPI.Find? {
        var found: DataAPI.Find?
        for group in try groups() {
            let tests = try group.words.map { word in
                let condition = try Condition(word, fields)
                return raw ? try condition.rawFind(fields) : try condition.find(fields)
            }
            guard let first = tests.first else {
                // A find may begin with what it omits.
                guard group.sign == nil, conditions.first == Sign.omit.rawValue || conditions.isEmpty else {
                    throw CommandError("A condition is missing behind \(group.sign?.rawValue ?? "the layout").", .usage)
                }
                continue
            }
            let all = tests.dropFirst().reduce(first) { $0 && $1 }
            switch group.sign {
            case nil: found = all
            case .or?: found = found.map { $0 || all } ?? all
            case .omit?: found = (found ?? .everything) && !all
            }
        }
        return found
    }

    private enum Sign: String, CaseIterable {
        case or = "--or"
        case omit = "--omit"
    }

    /// The conditions that must all hold, with the sign before them. The first group has none.
    private func groups() throws -> [(sign: Sign?, words: [String])] {
        var groups: [(sign: Sign?, words: [String])] = [(nil, [])]
        for word in conditions {
            if let sign = Sign(rawValue: word) {
                groups.append((sign, []))
            } else if word.hasPrefix("--") {
                throw UnknownOption(word: word)
            } else {
                groups[groups.count - 1].words.append(word)
            }
        }
        return groups
    }

    /// Throws if there is an option among the conditions that the command does not know.
    func checkOptions() throws { _ = try groups() }

    /// The order of the records. Throws if a field is not on the layout.
    func order(_ fields: LayoutFields) throws -> [DataAPI.SortQuery] {
        // The name of a field may contain a comma.
        let words = sort.flatMap { fields.field($0) == nil ? $0.split(separator: ",").map(String.init) : [$0] }
        return try words.map { word in
            var name = word
            var order = DataAPI.SortQuery.Order.ascending
            if fields.field(name) == nil, let sign = name.first, sign == "-" || sign == "+" {
                name.removeFirst()
                if sign == "-" { order = .descending }
            }
            if fields.field(name) == nil, let colon = name.lastIndex(of: ":"),
                fields.field(String(name[..<colon])) != nil
            {
                order = .valueList(String(name[name.index(after: colon)...]))
                name = String(name[..<colon])
            }
            _ = try fields.known(name)
            return DataAPI.SortQuery(fieldName: name, sortOrder: order)
        }
    }

    /// What to tell the user if nothing is found: values that are nearly those of a value list.
    func advice(_ fields: LayoutFields) throws -> [String] {
        guard !raw else { return [] }
        let conditions = try groups().flatMap(\.words).map { word in try Condition(word, fields) }
        return try conditions.filter { $0.sign == .equal }.compactMap { condition in
            fields.advice(on: condition.value, of: try fields.known(condition.field))
        }
    }
}

/// An option that the command does not know, among the conditions.
struct UnknownOption: Error {
    let word: String

    /// The error for users of the command, with the nearest option of its help.
    func message(for help: String) -> String {
        let known = Set(help.matches(of: #/--[a-z][a-z-]+/#).map { String($0.output) }).sorted()
        let name = String(word.prefix { $0 != "=" })
        return "Unknown option '\(name)'." + (known.nearest(to: name).map { " Did you mean '\($0)'?" } ?? "")
    }
}
