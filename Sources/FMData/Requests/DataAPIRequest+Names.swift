/// A field that a request names, in any role: what "Field is missing" (102) and the validation codes can be about.
struct NamedField: Hashable, Sendable {
    var name: String
    /// Whether it was sent with an empty value, so that a field that must not be empty is not satisfied.
    var isEmpty = false
    /// Whether it was sent with what looks like a timestamp, as a `Date` is written.
    var isTimestamp = false
}

/// The portals that a request names: what "Field is missing" can be about as well.
struct NamedPortals: Hashable, Sendable {
    /// Those asked for, and those written to, each once.
    var names: [String]
    /// The layout whose portals those asked for are; `nil` for the layout of the request itself.
    var layout: String?
}

extension DataAPIRequest {
    /// The layout that the request goes through; `nil` when it goes through none.
    var layout: String? { path.layout }

    /// The layout that shapes the answer, where it is another one.
    var responseLayout: String? { options.first { $0.name == "layout.response" }?.value.text }

    /// The portals that the request names, each once.
    var namedPortals: NamedPortals {
        NamedPortals(
            names: options.flatMap(\.portals).uniqued { $0 },
            layout: responseLayout
        )
    }

    /// The fields that the request names, each once: criteria, sort orders, what is written to the record and to portal
    /// rows, globals, the container of an upload.
    var namedFields: [NamedField] {
        let container = path.container.map { [NamedField(name: $0)] } ?? []
        return (container + options.flatMap(\.fields)).uniqued(by: \.name)
    }
}

extension WireOption {
    fileprivate var portals: [String] {
        switch names {
        case .portals: value.elements.compactMap(\.text)
        case .portalRows: value.members.map(\.name).sorted()
        case .sortFields, .criteria, .fields, nil: []
        }
    }

    fileprivate var fields: [NamedField] {
        switch names {
        case .sortFields:
            value.elements.flatMap(\.members).filter { $0.name == "fieldName" }.compactMap(\.value.text)
                .map { NamedField(name: $0) }
        case .criteria: value.elements.flatMap { $0.fields { $0 == "omit" } }
        case .fields: value.fields(except: DataAPIName.isInstruction)
        case .portalRows:
            value.members.sorted { $0.name < $1.name }.flatMap(\.value.elements)
                .flatMap { $0.fields(except: DataAPIName.isIdentity) }
        case .portals, nil: []
        }
    }
}

extension WireValue {
    /// The members that are fields.
    fileprivate func fields(except isOther: (String) -> Bool) -> [NamedField] {
        members.filter { !isOther($0.name) }.sorted { $0.name < $1.name }.map { member in
            let text = member.value.text
            return NamedField(
                name: member.name,
                isEmpty: text == "",
                isTimestamp: text?.looksLikeTimestamp == true
            )
        }
    }
}

extension Array {
    /// Without those of a name that came before.
    fileprivate func uniqued<Name: Hashable>(by name: (Element) -> Name) -> Self {
        var seen: Set<Name> = []
        return filter { seen.insert(name($0)).inserted }
    }
}

extension String {
    /// A date of whatever form, a space or a `T`, and hours, minutes and seconds.
    fileprivate var looksLikeTimestamp: Bool {
        guard let separator = lastIndex(where: { $0 == " " || $0 == "T" }),
            self[..<separator].contains(where: \.isNumber)
        else { return false }
        return FMTime(self[index(after: separator)...], format: .us) != nil
    }
}

extension DataAPIPath {
    /// The field in `…/records/{id}/containers/{field}/…`.
    fileprivate var container: String? {
        layout != nil && segments.count > 7 && segments[6] == "containers" ? segments[7] : nil
    }
}
