/// An error of the command itself, with the status that it ends with.
struct CommandError: Error, Equatable, CustomStringConvertible {
    let description: String
    let status: ExitStatus

    init(_ description: String, _ status: ExitStatus = .failed) {
        self.description = description
        self.status = status
    }
}
