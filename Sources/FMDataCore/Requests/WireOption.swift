/// One option of a call: a parameter of its URL, or a member of its JSON body. A call has one list of options. The URL,
/// the body, the summary of the request in errors, and the search for the field that an error is about all use this
/// list.
package struct WireOption: Hashable, Sendable {
    /// The option's name in a body.
    let name: String
    let value: WireValue
    let disclosure: Disclosure
    /// What the option names on a layout; `nil` for nothing.
    var names: Names?
    /// Whether the name has a leading underscore in a URL. The server refuses the wrong form with 960.
    var isUnderscoredInURL = false

    package init(
        name: String,
        value: WireValue,
        disclosure: Disclosure,
        names: Names? = nil,
        isUnderscoredInURL: Bool = false
    ) {
        self.name = name
        self.value = value
        self.disclosure = disclosure
        self.names = names
        self.isUnderscoredInURL = isUnderscoredInURL
    }

    /// Where the value may appear.
    package enum Disclosure: Hashable, Sendable {
        /// Everywhere: the value chooses or orders, and contains only names and counts.
        case shown
        /// In the request only: the value may hold a field's value, or a script's parameter. It is never printed.
        case hidden
        /// In the body of the request only: never in a URL, and never printed.
        case confidential
    }

    /// What the value consists of, if it names fields or portals.
    package enum Names: Hashable, Sendable {
        /// An array of sort orders.
        case sortFields
        /// An array of find requests, each an object with a member for each field.
        case criteria
        /// An object with a member for each field.
        case fields
        /// An array of the names of portals.
        case portals
        /// An object with a member for each portal, an array of rows.
        case portalRows
    }

    /// The option's name in the query of a URL.
    var nameInURL: String { isUnderscoredInURL ? "_" + name : name }

    /// The option's value in the query of a URL, not yet encoded: a text unchanged, everything else as JSON.
    var textInURL: String { value.text ?? String(decoding: value.json, as: UTF8.self) }

    /// The value as it may be printed.
    var shownValue: WireValue {
        disclosure == .shown ? value : value.replacingValues(by: Redacted.mark)
    }
}

/// The mark that replaces a secret.
enum Redacted {
    static let mark = "••••"
}

// Each of these functions returns the options of one property of a query: none when the property is not set.
extension [WireOption] {
    package init(joining options: [Self]) {
        self = options.flatMap(\.self)
    }

    /// A name, an id or a choice.
    package static func shown(_ name: String, _ text: String?) -> Self {
        text.map { [WireOption(name: name, value: .text($0), disclosure: .shown)] } ?? []
    }

    /// A text that may contain anything.
    static func hidden(_ name: String, _ text: String?) -> Self {
        text.map { [WireOption(name: name, value: .text($0), disclosure: .hidden)] } ?? []
    }

    /// An offset or a limit. Throws for a text that is no number and for a number below 1, which the server would
    /// refuse with a bare "Parameter is invalid".
    ///
    /// - Parameter portal: the portal whose rows are counted; `nil` for records.
    static func count(
        _ name: String,
        _ given: LenientInt,
        inPortal portal: String? = nil
    ) throws(FMRest.APIError) -> Self {
        let what = portal.map { "The \(name) of portal \"\($0)\"" } ?? (name == "offset" ? "An offset" : "A \(name)")
        guard let number = try given.checked(what) else { return [] }
        guard number >= 1 else {
            throw FMRest.APIError(.invalidRequest, reason: "\(what) counts from 1; \(number) was given.")
        }
        let name = portal.map { "\(name).\($0)" } ?? name
        return [
            WireOption(name: name, value: .text("\(number)"), disclosure: .shown, isUnderscoredInURL: true)
        ]
    }

    /// The portals to return, and the range of their rows.
    static func portals(_ portals: [DataAPI.PortalRequest]?) throws(FMRest.APIError) -> Self {
        guard let portals else { return [] }
        var options = [
            WireOption(name: "portal", value: .texts(portals.map(\.name)), disclosure: .shown, names: .portals)
        ]
        for portal in portals {
            options += try count("offset", LenientInt(portal.offset), inPortal: portal.name)
            options += try count("limit", LenientInt(portal.limit), inPortal: portal.name)
        }
        return options
    }

    /// The find requests.
    static func criteria(_ requests: [[String: String]]) -> Self {
        let value = WireValue.array(requests.map(WireValue.object))
        return [WireOption(name: "query", value: value, disclosure: .hidden, names: .criteria)]
    }

    /// The fields to sort by.
    static func sort(_ order: [DataAPI.SortQuery]?) -> Self {
        guard let order, !order.isEmpty else { return [] }
        let value = WireValue.array(
            order.map { .object(["fieldName": $0.fieldName, "sortOrder": $0.sortOrder.rawValue]) }
        )
        return [
            WireOption(name: "sort", value: value, disclosure: .shown, names: .sortFields, isUnderscoredInURL: true)
        ]
    }

    /// The scripts in the order in which they run, each with its parameter. A parameter without a script has no effect
    /// and is left out.
    package static func scripts(_ scripts: DataAPI.ScriptQuery?) -> Self {
        guard let scripts else { return [] }
        let phases = [
            ("script.prerequest", scripts.scriptPreRequest, scripts.scriptPreRequestParam),
            ("script.presort", scripts.scriptPreSort, scripts.scriptPreSortParam),
            ("script", scripts.script, scripts.scriptParam),
        ]
        var options: [WireOption] = []
        for (name, script, parameter) in phases {
            guard let script else { continue }
            options += shown(name, script)
            guard let parameter else { continue }
            options.append(
                WireOption(
                    name: name + ".param",
                    value: .text(parameter),
                    disclosure: scripts.isConfidential ? .confidential : .hidden
                )
            )
        }
        return options
    }

    /// The options sorted by name: the same query gives the same bytes.
    var byName: Self { sorted { $0.name < $1.name } }

    /// The options as a JSON object, for a body.
    var json: [UInt8] {
        WireValue.object(map { WireValue.Member(name: $0.name, value: $0.value) }).json
    }
}
