/// The part of a FileMaker error that FileMaker leaves open and the file itself can answer: which field, which layout,
/// which script.
///
/// Each kind is a value created from the error and the request; `nil` when there is nothing to find out. It has one
/// question to the file, which ``LayoutMemory`` sends once for all calls that have it.
protocol Suspicion {
    /// The question to the file.
    var question: FileQuestion { get }

    /// The error, with the result of comparing the request with the answer.
    func explained(by answer: FileAnswer) -> FMRest.APIError

    /// The error when the file is not asked, or does not answer.
    var unexplained: FMRest.APIError { get }
}

/// The questions that a file can answer about itself.
enum FileQuestion: Hashable, Sendable {
    /// The fields and portals of a layout.
    case layout(String)
    /// The names of the layouts that the account sees.
    case layoutNames
    /// The names of the scripts that the account sees.
    case scriptNames
}

/// The answer of a file to a ``FileQuestion``.
enum FileAnswer: Sendable {
    case layout(DataAPI.Layout.LayoutMetaData)
    /// The names, including those in folders.
    case names([String])
}

extension FMRest.APIError {
    /// Adds a sentence to the reason.
    mutating func add(_ sentence: String) {
        reason += (reason.hasSuffix(".") ? " " : ": ") + sentence
    }
}

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
