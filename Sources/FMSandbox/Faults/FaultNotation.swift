extension Sandbox.Fault {
    /// How a fault is written on a command line: a name, and what follows it.
    package struct Notation: Sendable {
        package let name: String
        package let parameter: Parameter

        init(_ name: String, _ parameter: Parameter) {
            self.name = name
            self.parameter = parameter
        }

        /// With what follows the name in angle brackets: `delay<milliseconds>`.
        package var form: String { name + parameter.form }
    }

    /// What follows a name, and the fault that comes of it.
    package enum Parameter: Sendable {
        /// Nothing.
        case nothing(Sandbox.Fault)
        /// A number that must be there.
        case milliseconds(@Sendable (Duration) -> Sandbox.Fault)
        /// A number that must be there.
        case errorCode(@Sendable (Int) -> Sandbox.Fault)
        /// The status of a final answer; the standard one if there is no number.
        case status(standard: Int, @Sendable (Int) -> Sandbox.Fault)
        /// 0 if there is no number.
        case bytes(@Sendable (Int) -> Sandbox.Fault)
        /// As ``bytes``; then `=` and a mistake, or ``Sandbox/ChunkSizeMistake/notHexadecimal``.
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
