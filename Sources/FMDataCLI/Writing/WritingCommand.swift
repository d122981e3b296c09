import ArgumentParser
import FMData
import OpenCombine

/// A command that writes, or shows what it would send.
protocol WritingCommand: HostCommand {
    var dryRun: Bool { get }
}

extension ArgumentHelp {
    /// The help of `--dry-run`.
    static let dryRun: ArgumentHelp = """
        Print the request and do not send it. The layout is read all the same, if the write needs to know it.
        """
}

extension WritingCommand {
    /// Makes the call of a write.
    ///
    /// - Returns: the answer; nil if the call was only shown.
    func write<Value: Sendable>(
        _ visit: HostVisit,
        _ call: @Sendable (DataAPI.Database) -> AnyPublisher<Value, FMRest.APIError>
    ) async throws -> Value? {
        guard dryRun else {
            let database = try await visit.open()
            return try await visit.writing { try await call(database).firstValue() }
        }
        let dryRun = DryRun()
        let database = try await visit.openForDryRun(dryRun)
        try await dryRun.request { call(database) }.print(form)
        return nil
    }

    /// Prints the id of a record and the number of its version.
    func print(recordId: Int, modId: Int?) throws {
        let columns = ["recordId", "modId"].map { OutputColumn($0, isNumber: true) }
        let row = OutputRow(
            cells: [String(recordId), modId.map(String.init) ?? ""],
            object: ["recordId": .int(recordId), "modId": modId.map(OutputValue.int)]
        )
        try printer(columns, isOne: true).printAll([row])
    }
}
