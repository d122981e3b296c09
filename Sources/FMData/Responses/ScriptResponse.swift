extension DataAPI {
    /// What the scripts of a request gave back, for each of the three phases in which one can run.
    ///
    /// A result is absent when its script returned nothing. An error is the last error of the script itself, as text:
    /// `"0"` is success, and `"101"` is what an ordinary loop over all records ends with, so it is a value here and no
    /// failure of the call.
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public struct ScriptResponse: Hashable, Sendable {
        /// Result of the script that ran after the request and its sort.
        public var scriptResult: String?
        /// Last error of the script that ran after the request and its sort.
        public var scriptError: String?
        /// Result of the script that ran before the request.
        public var scriptResultPreRequest: String?
        /// Last error of the script that ran before the request.
        public var scriptErrorPreRequest: String?
        /// Result of the script that ran after the request and before the sort.
        public var scriptResultPreSort: String?
        /// Last error of the script that ran before the sort.
        public var scriptErrorPreSort: String?
        /// FileMaker's messages; see ``MessageCarrying``. None where the results came with another response, which has them.
        @DataAPI.Aside public var messages: [DataAPI.Message] = []

        /// The script that was asked for, to run after the request and its sort. The server's answer does not name it: the
        /// library adds it from the request, as the other two.
        public var scriptName: String?
        /// The script that was asked for, to run before the request.
        public var scriptNamePreRequest: String?
        /// The script that was asked for, to run after the request and before the sort.
        public var scriptNamePreSort: String?

        /// A value of your own making, for tests and doubles; see the properties for its parts.
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

        /// `true` when no script left a trace: neither a result nor an error.
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

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
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

    /// Takes in one member of a response, if it is one of a script.
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

    /// The script results beside other keys of a response; `nil` when there are none.
    static func ifPresent(in decoder: any Decoder) throws -> DataAPI.ScriptResponse? {
        let response = try DataAPI.ScriptResponse(from: decoder)
        return response.isEmpty ? nil : response
    }
}

extension DataAPI.ScriptResponse: DataAPIResponse {
    mutating func nameScripts(_ scripts: ScriptNames) { names = scripts }
}
