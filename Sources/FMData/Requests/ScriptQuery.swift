extension DataAPI {
    /// The scripts to run with a request: before it, between it and its sort, and after both.
    ///
    ///     ScriptQuery(script: "Send receipt", scriptParam: "42")
    ///
    /// Their results are in a ``ScriptResponse``. A request with a script is never sent twice when its outcome is
    /// unknown, even if it reads.
    ///
    /// Calls without a body (`getRecords`, `record(id:)`, `deleteRecord`) send parameters in the URL, where web
    /// servers log and limit them. Such a call fails with ``FMRest/APIError/Code/invalidRequest``, and sends nothing,
    /// when the parameters make the URL longer than 2,000 characters, or when the query is ``isConfidential`` and has a
    /// parameter. Finds, creates, edits and duplicates send parameters in their body, and
    /// ``DataAPI/Layout/runScript(_:parameter:isolation:)`` can send confidential ones.
    ///
    ///     ScriptQuery(script: "Unlock", scriptParam: pin, isConfidential: true)
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public struct ScriptQuery: Hashable, Sendable {
        /// The script that runs after the request and its sort.
        public var script: String?
        /// The parameter of the script after the request, its `Get(ScriptParameter)`.
        public var scriptParam: String?
        /// The script that runs after the request and before its sort.
        public var scriptPreSort: String?
        /// The parameter of the script before the sort, its `Get(ScriptParameter)`.
        public var scriptPreSortParam: String?
        /// The script that runs before the request.
        public var scriptPreRequest: String?
        /// The parameter of the script before the request, its `Get(ScriptParameter)`.
        public var scriptPreRequestParam: String?
        /// Whether the parameters must not be in a URL. The default is no. They are never printed.
        public var isConfidential: Bool

        /// Creates a query. See the properties for the meaning of each part and its default.
        public init(
            script: String? = nil,
            scriptParam: String? = nil,
            scriptPreSort: String? = nil,
            scriptPreSortParam: String? = nil,
            scriptPreRequest: String? = nil,
            scriptPreRequestParam: String? = nil,
            isConfidential: Bool = false
        ) {
            self.script = script
            self.scriptParam = scriptParam
            self.scriptPreSort = scriptPreSort
            self.scriptPreSortParam = scriptPreSortParam
            self.scriptPreRequest = scriptPreRequest
            self.scriptPreRequestParam = scriptPreRequestParam
            self.isConfidential = isConfidential
        }
    }
}

extension DataAPI.ScriptQuery {
    var runsScripts: Bool { script != nil || scriptPreSort != nil || scriptPreRequest != nil }

    /// The names of the scripts, without their parameters.
    var names: ScriptNames {
        ScriptNames(preRequest: scriptPreRequest, preSort: scriptPreSort, afterRequest: script)
    }
}

extension DataAPI.ScriptQuery: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the scripts. Parameters are replaced by a mark: any may hold a field's value.
    public var description: String {
        "ScriptQuery(" + shown.map { "\($0.label): \($0.value)" }.joined(separator: ", ") + ")"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The children that a dump shows, without parameters.
    public var customMirror: Mirror { Mirror(self, children: shown.map { ($0.label, $0.value) }) }

    private var shown: [(label: String, value: String)] {
        let all: [(label: String, value: String?)] = [
            ("script", script.map { "\"\($0)\"" }), ("scriptParam", scriptParam.map { _ in "••••" }),
            ("scriptPreSort", scriptPreSort.map { "\"\($0)\"" }),
            ("scriptPreSortParam", scriptPreSortParam.map { _ in "••••" }),
            ("scriptPreRequest", scriptPreRequest.map { "\"\($0)\"" }),
            ("scriptPreRequestParam", scriptPreRequestParam.map { _ in "••••" }),
        ]
        return all.compactMap { label, value in value.map { (label, $0) } }
    }
}
