import ArgumentParser

/// A command that asks a host and prints data.
///
/// Its groups of options stand side by side. In a debug build ArgumentParser checks the declarations, those of a group
/// inside another one four times as often with each level: it took a tenth of a second of every run.
protocol HostCommand: AsyncParsableCommand {
    var connection: ConnectionOptions { get }
    var talk: TalkOptions { get }
    var form: OutputOptions { get }
}

extension HostCommand {
    /// Runs the command's work, then ends the connections.
    func visit(_ work: @escaping @Sendable (HostVisit) async throws -> Void) async throws {
        try await HostVisit.make(with: connection, talk, errorsAreJSON: form.errorsAreJSON, work)
    }

    /// Prints rows in the form that was asked for.
    ///
    /// - Parameter isOne: Whether there is one row by its nature.
    func printer(_ columns: [OutputColumn], isOne: Bool = false) -> RowPrinter {
        RowPrinter(columns, form, isOne: isOne)
    }
}
