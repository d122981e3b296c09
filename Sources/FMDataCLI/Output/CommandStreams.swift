import Foundation

/// The standard streams of a command that runs inside another one, whose own streams are not its.
final class CommandStreams: Sendable {
    /// Those of the command of this task; nil if it has the streams of the process.
    @TaskLocal static var captured: CommandStreams?

    private struct State: Sendable {
        var output: [UInt8] = []
        var rowCount = 0
        var remarks: [String] = []
    }

    /// What the command reads where it would read standard input.
    let input: Data
    private let state = LockedValue(State())

    init(input: Data = Data()) { self.input = input }

    /// What the command has printed.
    var text: String { String(decoding: state.value.output, as: UTF8.self) }
    /// The number of rows that it has printed.
    var rowCount: Int { state.value.rowCount }
    /// What it has said beside its data.
    var remarks: [String] { state.value.remarks }

    func take(_ bytes: [UInt8]) { state.change { $0.output += bytes } }

    func countRow() { state.change { $0.rowCount += 1 } }

    func remark(_ line: String) { state.change { $0.remarks.append(line) } }
}
