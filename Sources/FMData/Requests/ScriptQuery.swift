extension DataAPI {
    /// The scripts to run with a request: before it, between the request and its sort, and after it.
    ///
    ///     ScriptQuery(script: "Send receipt", scriptParam: "42")
    ///
    /// Their results come back in a ``ScriptResponse``. A request with a script is never sent twice when its outcome is
    /// unknown, even a read.
    ///
    /// Calls without a body (`getRecords`, `getRecordById`, `deleteRecord`) send parameters in the URL, where web servers
    /// log and limit them. There a parameter that makes the URL longer than 2,000 characters, and any at all of a query
    /// that is ``isConfidential``, is refused with ``FMRest/APIError/Code/invalidRequest``, and nothing is sent. Finds,
    /// creates, edits and duplicates send parameters in their body, and
    /// ``DataAPI/Layout/executeScript(script:parameter:isolation:)`` has a way for confidential ones.
    ///
    ///     ScriptQuery(script: "Unlock", scriptParam: pin, isConfidential: true)
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public struct ScriptQuery: Hashable, Sendable {
        /// Runs after the request and its sort.
        public var script: String?
        /// What the script after the request gets from `Get(ScriptParameter)`.
        public var scriptParam: String?
        /// Runs after the request, before its sort.
        public var scriptPreSort: String?
        /// What the script before the sort gets from `Get(ScriptParameter)`.
        public var scriptPreSortParam: String?
        /// Runs before the request.
        public var scriptPreRequest: String?
        /// What the script before the request gets from `Get(ScriptParameter)`.
        public var scriptPreRequestParam: String?
        /// Whether the parameters must not be in a URL. The default is no. They are never printed.
        public var isConfidential: Bool

        /// See the properties for the meaning of each part and its default.
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

    /// Which scripts run, without what they are told.
    var names: ScriptNames {
        ScriptNames(preRequest: scriptPreRequest, preSort: scriptPreSort, afterRequest: script)
    }
}

extension DataAPI.ScriptQuery: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the scripts. Parameters are replaced: any may hold a value of a field.
    public var description: String {
        "ScriptQuery(" + shown.map { "\($0.label): \($0.value)" }.joined(separator: ", ") + ")"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// What a dump may show: no parameter.
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
