extension DataAPI {
    /// A script that ended with an error which the caller chose to treat as a failure: what an ``FMRest/APIError`` of code
    /// ``FMRest/APIError/Code/script`` carries.
    ///
    /// Source: Claris Data API guide, "Run FileMaker scripts".
    public struct ScriptFailure: Hashable, Sendable {
        /// The script's name, where the failure comes from a response of this library.
        public var script: String?
        /// When the script ran.
        public var phase: ScriptPhase
        /// The script's last error. A text that is no number counts as ``FileMakerErrorCode/unknown``.
        public var code: FileMakerErrorCode
        /// What the script returned. It is not printed.
        public var result: String?

        /// A script that ended with an error; see the properties for the parts.
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
    /// What it is, in a few words that hold no secret and no field value.
    public var description: String {
        guard let script else { return "The script \(phase.rawValue) ended with \(code)." }
        let when = phase == .afterRequest ? "" : ", which ran \(phase.rawValue),"
        return "The script \"\(script)\"\(when) ended with \(code)."
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// What a dump may show: no secret.
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
