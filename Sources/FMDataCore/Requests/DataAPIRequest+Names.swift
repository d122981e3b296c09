/// A field that a request names, in any role: "Field is missing" (102) and the validation codes can be about it.
struct NamedField: Hashable, Sendable {
    var name: String
    /// Whether it was sent with an empty value: then it may be the one that must not be empty.
    var isEmpty = false
    /// Whether it was sent with a value that looks like a timestamp, as a `Date` is written.
    var isTimestamp = false
}

/// The portals that a request names: "Field is missing" (102) can be about them as well.
struct NamedPortals: Hashable, Sendable {
    /// The names of the portals that are requested or written to, each once.
    var names: [String]
    /// The layout that has the requested portals; `nil` for the layout of the request itself.
    var layout: String?
}

extension DataAPIRequest {
    /// The layout in the request's path; `nil` when there is none.
    var layout: String? { path.layout }

    /// The layout that shapes the answer, if it is another one.
    var responseLayout: String? { options.first { $0.name == "layout.response" }?.value.text }

    /// The portals that the request names, each once.
    var namedPortals: NamedPortals {
        NamedPortals(
            names: options.flatMap(\.portals).uniqued { $0 },
            layout: responseLayout
        )
    }

    /// The fields that the request names, each once: in criteria, sort orders, fields of the record and of portal rows,
    /// globals, and the container of an upload.
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
    /// The members that are fields, sorted by name.
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
    /// The elements without those whose name occurred before.
    fileprivate func uniqued<Name: Hashable>(by name: (Element) -> Name) -> Self {
        var seen: Set<Name> = []
        return filter { seen.insert(name($0)).inserted }
    }
}

extension String {
    /// Whether the text ends with hours, minutes and seconds, after a space or a `T`, with digits before that.
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
