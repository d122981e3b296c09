extension DataAPI {
    /// The scripts to run with a request: before it, between the request and its sort, and after it.
    ///
    ///     ScriptQuery(script: "Send receipt", scriptParam: "42")
    ///
    /// Their results come back in a ``ScriptResponse``. A request with a script is never sent twice when its outcome is
    /// unknown, even a read.
    ///
    /// Calls without a body (`getRecords`, `getRecordById`, `deleteRecord`) send parameters in the URL, where web servers log
    /// and limit them. There a parameter that makes the URL longer than 2,000 characters, and any at all of a query that is
    /// ``isConfidential``, is refused with ``FMRest/APIError/Code/invalidRequest``, and nothing is sent. Finds, creates,
    /// edits and duplicates send parameters in their body, and ``DataAPI/Layout/executeScript(script:parameter:)`` finds a
    /// way for every one.
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
        /// Whether the parameters must not be in a URL, nor in a dump of this value. The default is no.
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
    /// The six keys as they appear in a query or a body, in the order in which the scripts run. A parameter without its
    /// script says nothing and is left out.
    var wireParameters: [(name: String, value: String)] {
        let phases = [
            ("script.prerequest", scriptPreRequest, scriptPreRequestParam),
            ("script.presort", scriptPreSort, scriptPreSortParam),
            ("script", script, scriptParam),
        ]
        var parameters: [(name: String, value: String)] = []
        for (name, script, parameter) in phases {
            guard let script else { continue }
            parameters.append((name, script))
            if let parameter { parameters.append((name + ".param", parameter)) }
        }
        return parameters
    }

    var runsScripts: Bool { script != nil || scriptPreSort != nil || scriptPreRequest != nil }

    /// Whether a parameter would be sent.
    var hasParameters: Bool { wireParameters.contains { $0.name.hasSuffix(".param") } }
}

extension DataAPI.ScriptQuery: CustomReflectable {
    /// What a dump may show: of a confidential query the names of the scripts.
    public var customMirror: Mirror {
        func shown(_ parameter: String?) -> String? { isConfidential ? parameter.map { _ in "••••" } : parameter }
        let children: [(String, String?)] = [
            ("script", script), ("scriptParam", shown(scriptParam)),
            ("scriptPreSort", scriptPreSort), ("scriptPreSortParam", shown(scriptPreSortParam)),
            ("scriptPreRequest", scriptPreRequest), ("scriptPreRequestParam", shown(scriptPreRequestParam)),
        ]
        return Mirror(self, children: children.map { (label: $0, value: $1 as Any) })
    }
}
