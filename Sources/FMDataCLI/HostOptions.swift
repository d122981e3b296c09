import ArgumentParser

/// The host of a command that prints data, and the form of the data.
struct HostOptions: ParsableArguments {
    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "Form of the data") var output: OutputOptions

    /// Runs the command's work, then ends the connections.
    func visit(_ work: @escaping @Sendable (HostVisit) async throws -> Void) async throws {
        try await HostVisit.make(with: connection, errorsAreJSON: output.errorsAreJSON, work)
    }

    /// Prints rows in the form that was asked for.
    ///
    /// - Parameter isOne: Whether there is one row by its nature.
    func printer(_ columns: [OutputColumn], isOne: Bool = false) -> RowPrinter {
        RowPrinter(columns, output, isOne: isOne)
    }
}
