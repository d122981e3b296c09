extension DataAPI {
    /// A script that ended with an error that the caller chose to treat as a failure. An ``FMRest/APIError`` with the
    /// code ``FMRest/APIError/Code/script`` has one.
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public struct ScriptFailure: Hashable, Sendable {
        /// The script's name, when the failure comes from a response of this library.
        public var script: String?
        /// When the script ran.
        public var phase: ScriptPhase
        /// The script's last error. A text that is no number counts as ``FileMakerErrorCode/unknown``.
        public var code: FileMakerErrorCode
        /// The script's result. It is not printed.
        public var result: String?

        /// Creates a failure; see the properties for its parts.
        public init(
            script: String? = nil,
            phase: ScriptPhase,
            code: FileMakerErrorCode,
            result: String? = nil
        ) {
            self.script = script
            self.phase = phase
            self.code = code
            self.result = result
        }
    }

    /// When a script runs, relative to the request that names it.
    public enum ScriptPhase: String, Hashable, Sendable, CaseIterable {
        /// Before the request.
        case preRequest = "before the request"
        /// After the request, before its sort.
        case preSort = "before the sort"
        /// After the request and its sort, or by itself.
        case afterRequest = "after the request"
    }
}

extension DataAPI.ScriptFailure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A short text, without secrets and field values.
    public var description: String {
        guard let script else { return "The script \(phase.rawValue) ended with \(code)." }
        let when = phase == .afterRequest ? "" : ", which ran \(phase.rawValue),"
        return "The script \"\(script)\"\(when) ended with \(code)."
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The children that a dump shows, without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["script": script as Any, "phase": phase, "code": code])
    }
}

extension FMRest.APIError {
    init(_ failure: DataAPI.ScriptFailure) {
        self.init(.script, reason: failure.description, hint: failure.code.hint, fileMakerCode: failure.code)
        scriptFailure = failure
    }
}
