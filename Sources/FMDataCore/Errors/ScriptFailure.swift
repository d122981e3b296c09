import Foundation

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

/// Describes why the result of a script is not of the type that the caller wants, in terms of the script: the key of
/// its JSON, what is there, and what is expected. The value itself is never shown.
struct ScriptResultProblem {
    let script: String
    let type: Any.Type
    /// `nil` when the script returned nothing.
    let result: String?
    /// The decoder's error.
    let error: any Error

    /// The error of the call.
    var apiError: FMRest.APIError {
        FMRest.APIError(
            .decoding,
            reason: "The result of the script \"\(script)\" is not of type \(type): \(explanation).",
            hint: hint,
            underlying: error
        )
    }

    private var hint: String {
        result == nil
            ? "A script returns its result by Exit Script. An optional type is nil where there is none."
            : "The result is read as JSON, such as JSONSetElement makes it; returning: String.self takes any text as it is."
    }

    private var explanation: String {
        guard let result else { return "the script returned nothing" }
        guard let json = try? JSONSerialization.jsonObject(with: Data(result.utf8), options: .fragmentsAllowed) else {
            return "it is not JSON"
        }
        switch (error as? DecodingFailure)?.decodingError ?? error {
        case DecodingError.typeMismatch(let expected, let place), DecodingError.valueNotFound(let expected, let place):
            return "\(Self.name(of: place.codingPath)) is \(Self.kind(at: place.codingPath, of: json)), and "
                + "\(expected) is expected"
        case DecodingError.keyNotFound(let key, let place):
            return "\(Self.name(of: place.codingPath)) has no key \"\(key.stringValue)\""
        case DecodingError.dataCorrupted(let place):
            return "\(Self.name(of: place.codingPath)) is \(Self.kind(at: place.codingPath, of: json)) that its type "
                + "does not take"
        default:
            return "the type refused it by \(Swift.type(of: error))"
        }
    }

    /// The path in quotes, such as `"lines[2].pieces"`, or "it" for the whole.
    private static func name(of path: [any CodingKey]) -> String {
        path.isEmpty ? "it" : "\"\(path.readable)\""
    }

    private static func kind(at path: [any CodingKey], of json: Any) -> String {
        var value: Any? = json
        for key in path {
            if let index = key.intValue, let array = value as? [Any] {
                value = array.indices.contains(index) ? array[index] : nil
            } else {
                value = (value as? [String: Any])?[key.stringValue]
            }
        }
        return switch value {
        case nil: "not there"
        case is NSNull: "null"
        case is String: "a text"
        case is [Any]: "an array"
        case is [String: Any]: "an object"
        case let number as NSNumber: number.isBoolean ? "a boolean" : "a number"
        default: "something else"
        }
    }
}

extension NSNumber {
    /// Whether the number was `true` or `false` in the JSON.
    fileprivate var isBoolean: Bool { String(cString: objCType) == "c" }
}
