extension DataAPI {
    /// The results of the scripts of a request, for each of the three phases in which a script can run.
    ///
    /// A result is `nil` if its script returned nothing. An error is the last error of the script itself, as text.
    /// `"0"` is success. An ordinary loop over all records ends with `"101"`, so script errors are values here, and the
    /// call does not fail.
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public struct ScriptResponse: Hashable, Sendable {
        /// The result of the script that ran after the request and its sort.
        public var scriptResult: String?
        /// The last error of the script that ran after the request and its sort.
        public var scriptError: String?
        /// The result of the script that ran before the request.
        public var scriptResultPreRequest: String?
        /// The last error of the script that ran before the request.
        public var scriptErrorPreRequest: String?
        /// The result of the script that ran after the request and before the sort.
        public var scriptResultPreSort: String?
        /// The last error of the script that ran after the request and before the sort.
        public var scriptErrorPreSort: String?
        /// FileMaker's messages; see ``DataAPI/Message``. Empty if the results are part of another response, which
        /// has the messages.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        /// The name of the script that was to run after the request and its sort. The server's answer does not contain
        /// it: the library adds it from the request, like the other two names.
        public var scriptName: String?
        /// The name of the script that was to run before the request.
        public var scriptNamePreRequest: String?
        /// The name of the script that was to run after the request and before the sort.
        public var scriptNamePreSort: String?

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(
            scriptResult: String? = nil,
            scriptError: String? = nil,
            scriptResultPreRequest: String? = nil,
            scriptErrorPreRequest: String? = nil,
            scriptResultPreSort: String? = nil,
            scriptErrorPreSort: String? = nil,
            scriptName: String? = nil,
            scriptNamePreRequest: String? = nil,
            scriptNamePreSort: String? = nil
        ) {
            self.scriptResult = scriptResult
            self.scriptError = scriptError
            self.scriptResultPreRequest = scriptResultPreRequest
            self.scriptErrorPreRequest = scriptErrorPreRequest
            self.scriptResultPreSort = scriptResultPreSort
            self.scriptErrorPreSort = scriptErrorPreSort
            self.scriptName = scriptName
            self.scriptNamePreRequest = scriptNamePreRequest
            self.scriptNamePreSort = scriptNamePreSort
        }

        /// Whether there is neither a result nor an error of any script.
        public var isEmpty: Bool {
            [
                scriptResult, scriptError, scriptResultPreRequest, scriptErrorPreRequest, scriptResultPreSort,
                scriptErrorPreSort,
            ].allSatisfy { $0 == nil }
        }

        var names: ScriptNames {
            get {
                ScriptNames(
                    preRequest: scriptNamePreRequest,
                    preSort: scriptNamePreSort,
                    afterRequest: scriptName
                )
            }
            set {
                scriptNamePreRequest = newValue.preRequest
                scriptNamePreSort = newValue.preSort
                scriptName = newValue.afterRequest
            }
        }
    }
}

extension DataAPI.ScriptResponse: Decodable {
    enum CodingKeys: String, CodingKey {
        case scriptResult
        case scriptError
        case scriptResultPreRequest = "scriptResult.prerequest"
        case scriptErrorPreRequest = "scriptError.prerequest"
        case scriptResultPreSort = "scriptResult.presort"
        case scriptErrorPreSort = "scriptError.presort"
    }

    /// Reads the script results of a server's response. Errors may be text or numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            scriptResult: try container.decodeWireTextIfPresent(forKey: .scriptResult),
            scriptError: try container.decodeWireTextIfPresent(forKey: .scriptError),
            scriptResultPreRequest: try container.decodeWireTextIfPresent(forKey: .scriptResultPreRequest),
            scriptErrorPreRequest: try container.decodeWireTextIfPresent(forKey: .scriptErrorPreRequest),
            scriptResultPreSort: try container.decodeWireTextIfPresent(forKey: .scriptResultPreSort),
            scriptErrorPreSort: try container.decodeWireTextIfPresent(forKey: .scriptErrorPreSort)
        )
    }

    /// Stores one member of a response, if it belongs to a script.
    mutating func take(_ text: String, named name: String) {
        switch CodingKeys(rawValue: name) {
        case .scriptResult: scriptResult = text
        case .scriptError: scriptError = text
        case .scriptResultPreRequest: scriptResultPreRequest = text
        case .scriptErrorPreRequest: scriptErrorPreRequest = text
        case .scriptResultPreSort: scriptResultPreSort = text
        case .scriptErrorPreSort: scriptErrorPreSort = text
        case nil: break
        }
    }

    /// Whether a member of a response belongs to a script.
    static func owns(_ name: String) -> Bool { CodingKeys(rawValue: name) != nil }

    /// The script results among the other keys of a response; `nil` if there are none.
    static func ifPresent(in decoder: any Decoder) throws -> DataAPI.ScriptResponse? {
        let response = try DataAPI.ScriptResponse(from: decoder)
        return response.isEmpty ? nil : response
    }
}

extension DataAPI.ScriptResponse: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror {
        mirror([
            "scriptResult": scriptResult as Any, "scriptError": scriptError as Any,
            "scriptResultPreRequest": scriptResultPreRequest as Any,
            "scriptErrorPreRequest": scriptErrorPreRequest as Any, "scriptResultPreSort": scriptResultPreSort as Any,
            "scriptErrorPreSort": scriptErrorPreSort as Any, "scriptName": scriptName as Any,
            "scriptNamePreRequest": scriptNamePreRequest as Any, "scriptNamePreSort": scriptNamePreSort as Any,
        ])
    }
}

extension DataAPI.ScriptResponse: DataAPIResponse {
    package mutating func nameScripts(_ scripts: ScriptNames) { names = scripts }
}
