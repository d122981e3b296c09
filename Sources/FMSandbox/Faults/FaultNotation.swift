extension Sandbox.Fault {
    /// The command-line notation of a fault: a name and its parameter.
    package struct Notation: Sendable {
        package let name: String
        package let parameter: Parameter

        init(_ name: String, _ parameter: Parameter) {
            self.name = name
            self.parameter = parameter
        }

        /// The name with its parameter in angle brackets: `delay<milliseconds>`.
        package var form: String { name + parameter.form }
    }

    /// The parameter after a name, and the fault that it makes.
    package enum Parameter: Sendable {
        /// No parameter.
        case nothing(Sandbox.Fault)
        /// A required number.
        case milliseconds(@Sendable (Duration) -> Sandbox.Fault)
        /// A required number.
        case errorCode(@Sendable (Int) -> Sandbox.Fault)
        /// The status of a final answer; the standard one if the number is missing.
        case status(standard: Int, @Sendable (Int) -> Sandbox.Fault)
        /// A number of bytes; 0 if it is missing.
        case bytes(@Sendable (Int) -> Sandbox.Fault)
        /// Like ``bytes``, then `=` and a mistake; ``Sandbox/ChunkSizeMistake/notHexadecimal`` if the mistake is
        /// missing.
        case bytesAndMistake(@Sendable (Int, Sandbox.ChunkSizeMistake) -> Sandbox.Fault)

        fileprivate var form: String {
            switch self {
            case .nothing: ""
            case .milliseconds: "<milliseconds>"
            case .errorCode: "<code>"
            case .status: "<status>"
            case .bytes: "<bytes>"
            case .bytesAndMistake: "<bytes>=<mistake>"
            }
        }
    }
}
