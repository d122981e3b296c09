import NIOCore

/// What happened, line by line, with the time. Nothing is written before somebody wants to read it: a text costs more than
/// what it tells of.
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
