import NIOCore

/// The events, line by line, with their times. A text is only made if the trace is kept: making it costs more than the
/// event itself.
final class Trace {
    private let machine: VirtualMachine
    private let isKept: Bool
    private(set) var lines: [String] = []

    init(_ machine: VirtualMachine, isKept: Bool) {
        self.machine = machine
        self.isKept = isKept
    }

    func note(_ text: () -> String) {
        guard isKept else { return }
        let microseconds = (machine.now - machine.start).nanoseconds / 1000
        let (seconds, rest) = (microseconds / 1_000_000, String(microseconds % 1_000_000))
        lines.append("\(seconds).\(String(repeating: "0", count: 6 - rest.count))\(rest) \(text())")
    }
}
