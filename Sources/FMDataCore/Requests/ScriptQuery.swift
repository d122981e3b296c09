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
    package var runsScripts: Bool { script != nil || scriptPreSort != nil || scriptPreRequest != nil }

    /// The names of the scripts, without their parameters.
    package var names: ScriptNames {
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

extension DataAPI {
    /// The parameter of a script run by ``DataAPI/Layout/runScript(_:parameter:isolation:)``: a text, or a value
    /// written as JSON.
    ///
    ///     "42"                                        // or .text(number)
    ///     .json(Order(number: 42))                    // the script reads it by JSONGetElement
    ///     .confidential(pin)                          // never in a URL, never printed
    ///
    /// A parameter travels in the URL, as the Data API requires, where web servers log it and limit its length. A
    /// confidential one is sent in the body of a find instead, as
    /// ``DataAPI/Layout/runScript(_:parameter:isolation:)`` says, and may be of any length.
    public struct ScriptParameter: Sendable {
        /// Whether the parameter must not be in a URL.
        public let isConfidential: Bool
        /// Returns the text to send; a value is written with these options.
        let text: @Sendable (EncodingOptions) throws -> String

        private init(isConfidential: Bool = false, text: @escaping @Sendable (EncodingOptions) throws -> String) {
            self.isConfidential = isConfidential
            self.text = text
        }

        /// A text, sent unchanged.
        public static func text(_ text: String) -> ScriptParameter {
            ScriptParameter { _ in text }
        }

        /// A value as JSON, encoded when the script is run. A value that cannot be encoded makes the call fail with
        /// ``FMRest/APIError/Code/encoding``.
        public static func json(_ value: some Encodable & Sendable) -> ScriptParameter {
            ScriptParameter { try json(value, $0) }
        }

        /// A text that must not be in a URL, or is too long for one. It is not printed.
        public static func confidential(_ text: String) -> ScriptParameter {
            ScriptParameter(isConfidential: true) { _ in text }
        }

        /// A value, sent as JSON, that must not be in a URL, or is too long for one. It is not printed.
        public static func confidential(json value: some Encodable & Sendable) -> ScriptParameter {
            ScriptParameter(isConfidential: true) { try json(value, $0) }
        }
    }
}

extension DataAPI.ScriptParameter: ExpressibleByStringInterpolation {
    /// The same as ``text(_:)``.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension DataAPI.ScriptParameter: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Names only whether it is confidential: any parameter may hold a field's value.
    public var description: String {
        isConfidential ? "ScriptParameter(confidential)" : "ScriptParameter(••••)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The children that a dump shows, without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["isConfidential": isConfidential]) }
}

extension DataAPI.ScriptParameter {
    /// Plain JSON. The encoder of the configuration is for records only: a script would not expect what it does to
    /// names of fields.
    private static func json(_ value: some Encodable, _ options: EncodingOptions) throws -> String {
        String(decoding: try FMEncoder(options: options).encode(value), as: UTF8.self)
    }
}
