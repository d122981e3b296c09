extension DataAPI {
    /// What a script gets from ``DataAPI/Layout/executeScript(script:parameter:isolation:)``: a text, or a value written as
    /// JSON.
    ///
    ///     "42"                                        // or .text(number)
    ///     .json(Order(number: 42))                    // the script reads it by JSONGetElement
    ///     .confidential(pin)                          // never in a URL, never printed
    ///
    /// A parameter goes in the URL, as the Data API wants it, where web servers log it and limit its length. A confidential one
    /// takes the way of ``DataAPI/Layout/executeScript(script:parameter:isolation:)`` that has a body, and may be of any
    /// length.
    public struct ScriptParameter: Sendable {
        /// Whether the parameter may be in a URL.
        public let isConfidential: Bool
        let text: @Sendable (Config) throws -> String

        private init(isConfidential: Bool = false, text: @escaping @Sendable (Config) throws -> String) {
            self.isConfidential = isConfidential
            self.text = text
        }

        /// A text, as it is.
        public static func text(_ text: String) -> ScriptParameter {
            ScriptParameter { _ in text }
        }

        /// A value as JSON, written when the script is run. A value that cannot be written fails with
        /// ``FMRest/APIError/Code/encoding``.
        public static func json(_ value: some Encodable & Sendable) -> ScriptParameter {
            ScriptParameter { try $0.json(value) }
        }

        /// A text that must not be in a URL, or is too long for one, and is not printed.
        public static func confidential(_ text: String) -> ScriptParameter {
            ScriptParameter(isConfidential: true) { _ in text }
        }

        /// A value as JSON that must not be in a URL, or is too long for one, and is not printed.
        public static func confidential(json value: some Encodable & Sendable) -> ScriptParameter {
            ScriptParameter(isConfidential: true) { try $0.json(value) }
        }
    }
}

extension DataAPI.ScriptParameter: ExpressibleByStringLiteral {
    /// ``text(_:)``.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension DataAPI.ScriptParameter: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says no more than whether it is confidential: any parameter may hold a value of a field.
    public var description: String {
        isConfidential ? "ScriptParameter(confidential)" : "ScriptParameter(••••)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// What a dump may show: no secret.
    public var customMirror: Mirror { Mirror(self, children: ["isConfidential": isConfidential]) }
}

extension DataAPI.Config {
    /// Plain JSON. An encoder of the configuration is for records: what it makes of the names of fields, a script would not
    /// know.
    fileprivate func json(_ value: some Encodable) throws -> String {
        String(decoding: try FMEncoder(options: encoding).encode(value), as: UTF8.self)
    }
}
