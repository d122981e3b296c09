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
