/// Finds the layouts or scripts of a failed request that its file does not have: "Layout is missing" and "Script is
/// missing" do not name them.
struct NameSuspicion: Suspicion {
    private enum Kind: String {
        case layout, script
    }

    private let error: FMRest.APIError
    private let kind: Kind
    private let database: String
    /// The names in the request, in the order in which the host needs them.
    private let named: [String]

    /// `nil` for an error about something else, and for a request that names no layout or script.
    init?<Response>(_ error: FMRest.APIError, about request: DataAPIRequest<Response>, in database: String) {
        switch error.fileMakerCode {
        case .layoutMissing?:
            kind = .layout
            named = [request.layout, request.responseLayout].compactMap(\.self)
        case .scriptMissing?:
            kind = .script
            named = [request.scripts.preRequest, request.scripts.preSort, request.scripts.afterRequest]
                .compactMap(\.self)
        default: return nil
        }
        // With code `.script` the error is a script's own: the script itself looked for something that is missing.
        guard error.code != .script, !named.isEmpty else { return nil }
        self.error = error
        self.database = database
    }

    var question: FileQuestion {
        switch kind {
        case .layout: .layoutNames
        case .script: .scriptNames
        }
    }

    var unexplained: FMRest.APIError { error }

    func explained(by answer: FileAnswer) -> FMRest.APIError {
        guard case .names(let names) = answer else { return error }
        let missing = missing(among: names)
        guard !missing.isEmpty else { return error }
        var error = error
        switch kind {
        case .layout: error.layouts = missing
        case .script: error.scripts = missing
        }
        let list = missing.map { "\"\($0)\"" }.joined(separator: ", ")
        let are = missing.count == 1 ? "is no \(kind)" : "are no \(kind)s"
        error.add("\(list) \(are) of \"\(database)\" that the account sees.")
        if let question = NearNames.question(about: missing, among: names) { error.hint = question }
        return error
    }

    /// The names that are not there; if all of them are, those in another spelling: some hosts distinguish upper and
    /// lower case.
    private func missing(among names: [String]) -> [String] {
        let folded = Set(names.map { $0.lowercased() })
        let absent = named.filter { !folded.contains($0.lowercased()) }
        guard absent.isEmpty else { return absent }
        let exact = Set(names)
        return named.filter { !exact.contains($0) }
    }
}
