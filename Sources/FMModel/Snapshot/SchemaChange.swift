/// One difference between two snapshots of a layout, for people and for programs.
package struct SchemaChange: Equatable, Sendable, Encodable {
    package enum Kind: String, Sendable, Encodable {
        case added, removed, changed
    }

    /// The part of the layout that has changed.
    package enum Subject: String, Sendable, Encodable {
        case layout, field, portal, valueList, value
    }

    package var layout: String
    package var kind: Kind
    package var subject: Subject
    /// The name of the subject. The name of a field in a portal has the portal before it.
    package var name: String
    /// The old and the new state in words.
    package var detail: String
    /// Whether a program made for the old snapshot may fail.
    package var isBreaking: Bool

    /// The change as a line.
    package var text: String {
        let sign =
            switch kind {
            case .added: "+"
            case .removed: "-"
            case .changed: "~"
            }
        let what = subject == .valueList ? "value list" : subject.rawValue
        let breaking = isBreaking ? "  [breaking]" : ""
        return "\(sign) \(what) \(Literal(name))\(detail.isEmpty ? "" : ": \(detail)")\(breaking)"
    }
}

extension SchemaChange {
    /// The differences between two lists of layouts, grouped by layout.
    package static func changes(from old: [LayoutSnapshot], to new: [LayoutSnapshot]) -> [SchemaChange] {
        let (oldLayouts, newLayouts) = (byName(old, \.layout), byName(new, \.layout))
        return Set(oldLayouts.keys).union(newLayouts.keys).sorted().flatMap { name -> [SchemaChange] in
            switch (oldLayouts[name], newLayouts[name]) {
            case (let old?, let new?): LayoutComparison(old: old, new: new).changes
            case (nil, let new?): [whole(.added, name.text, detail: "type \(new.swift)")]
            default: [whole(.removed, name.text)]
            }
        }
    }

    private static func whole(_ kind: Kind, _ layout: String, detail: String = "") -> SchemaChange {
        SchemaChange(
            layout: layout,
            kind: kind,
            subject: .layout,
            name: layout,
            detail: detail,
            isBreaking: kind == .removed
        )
    }

    fileprivate static func byName<Element>(
        _ elements: [Element],
        _ name: (Element) -> String
    ) -> [SchemaName: Element] {
        Dictionary(elements.map { (SchemaName(name($0)), $0) }) { first, _ in first }
    }
}

/// Compares two snapshots of one layout.
private struct LayoutComparison {
    let old: LayoutSnapshot
    let new: LayoutSnapshot

    var changes: [SchemaChange] {
        var changes = fields(old.fields, new.fields, portal: nil)
        if old.table != new.table, let table = new.table {
            changes.append(
                change(.changed, .layout, new.layout, detail: "shows records of \(Literal(table))", isBreaking: false)
            )
        }
        return changes + portals + valueLists
    }

    private func change(
        _ kind: SchemaChange.Kind,
        _ subject: SchemaChange.Subject,
        _ name: String,
        detail: String = "",
        isBreaking: Bool
    ) -> SchemaChange {
        SchemaChange(
            layout: new.layout,
            kind: kind,
            subject: subject,
            name: name,
            detail: detail,
            isBreaking: isBreaking
        )
    }

    // MARK: Fields

    private func fields(
        _ old: [LayoutSnapshot.Field],
        _ new: [LayoutSnapshot.Field],
        portal: String?
    ) -> [SchemaChange] {
        let (oldFields, newFields) = (
            SchemaChange.byName(old, \.description.name), SchemaChange.byName(new, \.description.name)
        )
        let added = new.filter { oldFields[SchemaName($0.description.name)] == nil }
        func name(_ field: LayoutSnapshot.Field) -> String {
            (portal.map { "\($0) › " } ?? "") + field.description.name
        }
        var changes: [SchemaChange] = []
        for (position, field) in old.enumerated() {
            if let now = newFields[SchemaName(field.description.name)] {
                let what = differences(field.description, now.description)
                guard !what.words.isEmpty else { continue }
                let detail = what.words.joined(separator: ", ")
                changes.append(change(.changed, .field, name(field), detail: detail, isBreaking: what.isBreaking))
            } else {
                let heir = added.first {
                    $0.description.result == field.description.result
                        && new.firstIndex(of: $0) == position
                }
                // Hosts report no ids of fields, so a renamed field looks like a removed and an added one.
                let detail = heir.map { "perhaps it is called \(Literal($0.description.name)) now" } ?? ""
                changes.append(change(.removed, .field, name(field), detail: detail, isBreaking: true))
            }
        }
        return changes
            + added.map { field in
                change(.added, .field, name(field), detail: field.description.typeInWords, isBreaking: false)
            }
    }

    private func differences(
        _ old: FieldDescription,
        _ new: FieldDescription
    ) -> (words: [String], isBreaking: Bool) {
        var words: [String] = []
        var isBreaking = false
        func compare<Value: Equatable>(
            _ value: KeyPath<FieldDescription, Value>,
            breaks: Bool,
            _ text: (Value) -> String
        ) {
            guard old[keyPath: value] != new[keyPath: value] else { return }
            words.append("\(text(old[keyPath: value])) → \(text(new[keyPath: value]))")
            isBreaking = isBreaking || breaks
        }
        compare(\.result, breaks: true) { $0 }
        compare(\.kind, breaks: old.isWritable && !new.isWritable) { $0 }
        compare(\.isGlobal, breaks: true) { $0 ? "global" : "not global" }
        compare(\.shown, breaks: true) {
            $0.count == 1 ? "repetition \($0.lowerBound)" : "repetitions \($0.lowerBound) to \($0.upperBound)"
        }
        compare(\.repetitions, breaks: false) { "\($0) repetitions" }
        compare(\.valueList, breaks: true) { $0.map { "value list \(Literal($0))" } ?? "no value list" }
        compare(\.display, breaks: old.isCheckBox != new.isCheckBox || old.isChosen != new.isChosen) {
            $0 ?? "text box"
        }
        compare(\.isAutoEntered, breaks: false) { $0 ? "entered by FileMaker" : "not entered by FileMaker" }
        compare(\.isNotEmpty, breaks: false) { $0 ? "must not be empty" : "may be empty" }
        compare(\.isNumeric, breaks: false) { $0 ? "must be a number" : "need not be a number" }
        compare(\.needsFourDigitYear, breaks: false) { $0 ? "year of four digits" : "any year" }
        compare(\.isTimeOfDay, breaks: false) { $0 ? "time of a day" : "any time" }
        compare(\.maxCharacters, breaks: false) { $0.map { "\($0) characters at most" } ?? "any number of characters" }
        if old.isWritable, !new.isWritable { words.append("no longer writable") }
        return (words, isBreaking)
    }

    // MARK: Portals and value lists

    private var portals: [SchemaChange] {
        let (oldPortals, newPortals) = (
            SchemaChange.byName(old.portals, \.name), SchemaChange.byName(new.portals, \.name)
        )
        let gone = old.portals.filter { newPortals[SchemaName($0.name)] == nil }
            .map { change(.removed, .portal, $0.name, isBreaking: true) }
        return gone
            + new.portals.flatMap { portal -> [SchemaChange] in
                guard let before = oldPortals[SchemaName(portal.name)] else {
                    return [change(.added, .portal, portal.name, isBreaking: false)]
                }
                return fields(before.fields, portal.fields, portal: portal.name)
            }
    }

    private var valueLists: [SchemaChange] {
        let (oldLists, newLists) = (
            SchemaChange.byName(old.valueLists, \.name), SchemaChange.byName(new.valueLists, \.name)
        )
        let gone = old.valueLists.filter { newLists[SchemaName($0.name)] == nil }
            .map { change(.removed, .valueList, $0.name, detail: "no type any more", isBreaking: true) }
        return gone
            + new.valueLists.flatMap { list -> [SchemaChange] in
                guard let before = oldLists[SchemaName(list.name)] else {
                    return [change(.added, .valueList, list.name, isBreaking: false)]
                }
                return values(before, list)
            }
    }

    private func values(_ old: LayoutSnapshot.ValueList, _ new: LayoutSnapshot.ValueList) -> [SchemaChange] {
        let (oldValues, newValues) = (
            SchemaChange.byName(old.values, \.value), SchemaChange.byName(new.values, \.value)
        )
        let gone = old.values.filter { newValues[SchemaName($0.value)] == nil }
            .map { change(.removed, .value, "\(old.name) › \($0.value)", isBreaking: true) }
        let added = new.values.filter { oldValues[SchemaName($0.value)] == nil }
            .map { change(.added, .value, "\(new.name) › \($0.value)", isBreaking: false) }
        guard gone.isEmpty, added.isEmpty, old.values.map(\.value) != new.values.map(\.value) else {
            return gone + added
        }
        return [change(.changed, .valueList, new.name, detail: "another order", isBreaking: false)]
    }
}

extension FieldDescription {
    /// Its type in one or two words.
    fileprivate var typeInWords: String { kind == "normal" ? result : "\(result), \(kind)" }
}
