import FMHTTP

/// Checks a write before it is sent, by the layout's metadata and by the program's own rules.
///
/// FileMaker would refuse what it refuses, but may also refuse what it lets pass.
package struct WriteValidation: Sendable {
    package var followsLayout = true
    package var followsValueLists = false
    package var rules: [FieldRule] = []

    package init(followsLayout: Bool = true, followsValueLists: Bool = false, rules: [FieldRule] = []) {
        self.followsLayout = followsLayout
        self.followsValueLists = followsValueLists
        self.rules = rules
    }

    /// The fields and rows to write to one record.
    package struct Write {
        var fields: [WireValue.Member]
        /// The portal rows: the portal's name and the fields of each row.
        var rows: [(portal: String, isNew: Bool, fields: [WireValue.Member])] = []
        /// Whether the record is new, so that a field without a value will be empty.
        var isNew: Bool
        /// Whether it counts as entry by a script, which FileMaker does not validate.
        var isOfScript = false

        package init(
            fields: [WireValue.Member],
            rows: [(portal: String, isNew: Bool, fields: [WireValue.Member])] = [],
            isNew: Bool,
            isOfScript: Bool = false
        ) {
            self.fields = fields
            self.rows = rows
            self.isNew = isNew
            self.isOfScript = isOfScript
        }
    }

    /// - Parameters:
    ///   - layout: the layout's metadata; `nil` when it is not to be followed or not known.
    ///   - format: the format in which dates and times are written.
    package func invalidValues(
        in write: Write,
        _ layout: DataAPI.Layout.LayoutMetaData?,
        format: ValueFormat
    ) -> [DataAPI.InvalidValue] {
        let fields = GivenValues(write.fields)
        var found: [DataAPI.InvalidValue] = []
        if !write.isOfScript, let layout {
            let lists = followsValueLists ? layout.valueLists ?? [] : []
            func check(_ shown: [Field], _ fields: GivenValues, isNew: Bool) {
                for field in shown {
                    found += FieldCheck(field: field, lists: lists, format: format).invalidValues(
                        in: fields,
                        isNew: isNew
                    )
                }
            }
            check(layout.fieldMetaData, fields, isNew: write.isNew)
            for row in write.rows {
                check(layout.portalMetaData[row.portal] ?? [], GivenValues(row.fields), isNew: row.isNew)
            }
        }
        for rule in rules {
            if rule.isRequired, fields.lacks(rule.field, isNew: write.isNew) {
                found.append(DataAPI.InvalidValue(field: rule.name, rule: rule.rule))
            }
            for given in fields[rule.field] where !given.value.isEmpty && !rule.isValid(given.value) {
                found.append(DataAPI.InvalidValue(field: given.name, rule: rule.rule))
            }
        }
        var seen: Set<DataAPI.InvalidValue> = []
        return found.filter { seen.insert($0).inserted }
    }

    typealias Field = DataAPI.Layout.LayoutMetaData.FieldMetaData
}

/// A rule of the program for a field.
package struct FieldRule: Sendable {
    /// The field's name in lower case, without a repetition.
    let field: String
    /// The field's name as given.
    let name: String
    let rule: DataAPI.InvalidValue.Rule
    let isRequired: Bool
    /// The check for values that are not empty.
    package let isValid: @Sendable (FieldValue) -> Bool

    package init(
        _ name: String,
        _ rule: DataAPI.InvalidValue.Rule,
        isRequired: Bool = false,
        isValid: @escaping @Sendable (FieldValue) -> Bool = { _ in true }
    ) {
        field = DataAPIName.plain(name).lowercased()
        self.name = name
        self.rule = rule
        self.isRequired = isRequired
        self.isValid = isValid
    }
}

extension WriteValidation.Write {
    /// The fields and portal rows that a request writes to a record; `nil` when it writes none.
    init?<Response>(_ request: DataAPIRequest<Response>) {
        guard let fields = request.options.first(where: { $0.names == .fields && $0.name == "fieldData" }) else {
            return nil
        }
        self.init(
            fields: fields.value.members.filter { !DataAPIName.isInstruction($0.name) },
            isNew: request.method == .POST
        )
        let portals = request.options.first { $0.names == .portalRows }?.value.members ?? []
        rows = portals.flatMap { portal in
            portal.value.elements.map { row in
                let isNew = !row.members.contains { $0.name == "recordId" }
                let fields = row.members.filter { !DataAPIName.isIdentity($0.name) }
                return (portal: portal.name, isNew: isNew, fields: fields)
            }
        }
        let options = request.options.first { $0.name == "options" }?.value.members ?? []
        isOfScript = options.contains { $0.name == "entrymode" && $0.value.text == "script" }
    }
}

/// The values of a write by the plain names of their fields, in lower case.
private struct GivenValues {
    private var values: [String: [(name: String, value: FieldValue)]] = [:]

    init(_ members: [WireValue.Member]) {
        for member in members {
            let plain = DataAPIName.plain(member.name).lowercased()
            values[plain, default: []].append((member.name, member.value.fieldValue))
        }
    }

    subscript(field: String) -> [(name: String, value: FieldValue)] { values[field] ?? [] }

    /// Whether the field will be empty after the write.
    func lacks(_ field: String, isNew: Bool) -> Bool {
        let given = self[field]
        return given.isEmpty ? isNew : given.allSatisfy(\.value.isEmpty)
    }
}

/// Checks the values of one field by the layout's metadata.
private struct FieldCheck {
    let field: WriteValidation.Field
    let lists: [DataAPI.Layout.LayoutMetaData.ValueLists]
    let format: ValueFormat

    func invalidValues(in fields: GivenValues, isNew: Bool) -> [DataAPI.InvalidValue] {
        let name = field.name.lowercased()
        // A repetition that is not written may hold a value. A field without a value may get one from FileMaker, or
        // belong to another table.
        let mayBeFilled =
            fields[name].isEmpty
            ? field.autoEnter || field.name.contains("::") || field.global || field.type != .normal
            : field.maxRepeat > 1 && !isNew
        if field.notEmpty, !mayBeFilled, fields.lacks(name, isNew: isNew) {
            return [DataAPI.InvalidValue(field: field.name, rule: .required)]
        }
        return fields[name].filter { !$0.value.isEmpty }.flatMap { given in
            brokenRules(by: given.value).map { DataAPI.InvalidValue(field: given.name, rule: $0) }
        }
    }

    private func brokenRules(by value: FieldValue) -> [DataAPI.InvalidValue.Rule] {
        var broken: [DataAPI.InvalidValue.Rule] = []
        if let rule = brokenType(by: value.text) {
            broken.append(rule)
        } else if field.fourDigitYear, !value.text.hasYearOfFourDigits {
            broken.append(.fourDigitYear)
        } else if field.timeOfDay, let time = FMTime(value.text, format: format), !time.isOfDay {
            broken.append(.timeOfDay)
        }
        if field.numeric, case .text(let text) = value, !text.isNumber { broken.append(.number) }
        if let count = field.maxCharacters, count > 0, value.text.count > count {
            broken.append(.length(atMost: count))
        }
        if let list = lists.first(where: { $0.name == field.valueList && $0.type == "customList" }),
            !list.holds(value.text)
        {
            broken.append(.listed)
        }
        return broken
    }

    private func brokenType(by text: String) -> DataAPI.InvalidValue.Rule? {
        switch field.result {
        case .date: text.mayBeDate(format) ? nil : .date
        case .time: text.mayBeTime(format) ? nil : .time
        case .timeStamp: text.mayBeTimestamp(format) ? nil : .timestamp
        default: nil
        }
    }
}

extension DataAPI.Layout.LayoutMetaData.ValueLists {
    /// Whether the text is one of the values, or each of its lines is.
    fileprivate func holds(_ text: String) -> Bool {
        let values = Set(values.map { $0.value.lowercased() })
        return values.contains(text.lowercased())
            || text.split(separator: "\r").allSatisfy { values.contains($0.lowercased()) }
    }
}

extension FMTime {
    fileprivate var isOfDay: Bool { FMTime() <= self && self < FMTime(hours: 24) }
}

// FileMaker completes partial values: a date without a year, a time without seconds. So a text is refused only when it
// cannot be such a value.
extension String {
    fileprivate var isNumber: Bool {
        var text = self
        return text.withUTF8 { NumberText.literal(of: $0, separator: UInt8(ascii: ".")) } != nil
    }

    private var numbers: [Substring] { split { !$0.isASCII || !$0.isNumber } }

    fileprivate var hasYearOfFourDigits: Bool { numbers.contains { $0.count == 4 } }

    fileprivate func mayBeDate(_ format: ValueFormat) -> Bool {
        if FMDate(self, format: format) != nil { return true }
        guard (2...3).contains(numbers.count), !contains(where: \.isLetter) else { return false }
        guard numbers.count == 3, let year = numbers.first(where: { $0.count == 4 }).flatMap({ Int($0) }) else {
            return true
        }
        // People use various separators, and the order is the file's.
        let others = numbers.filter { $0.count != 4 }.compactMap { Int($0) }
        guard others.count == 2 else { return false }
        return FMDate(year: year, month: others[0], day: others[1]) != nil
            || FMDate(year: year, month: others[1], day: others[0]) != nil
    }

    fileprivate func mayBeTime(_ format: ValueFormat) -> Bool {
        FMTime(self, format: format) != nil || (1...4).contains(numbers.count)
    }

    fileprivate func mayBeTimestamp(_ format: ValueFormat) -> Bool {
        if FMTimestamp(self, format: format) != nil { return true }
        return (2...7).contains(numbers.count)
    }
}
