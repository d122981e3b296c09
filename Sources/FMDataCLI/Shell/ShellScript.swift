import ArgumentParser

/// The lines of a file, or of another program.
struct ShellScript {
    private let shell: Shell
    private let keepsGoing: Bool

    init(_ shell: Shell, keepsGoing: Bool) {
        self.shell = shell
        self.keepsGoing = keepsGoing
    }

    /// Runs the lines up to the first that fails, or all. Throws the status, if one has failed.
    func run() async throws {
        var rest: [UInt8] = []
        var number = 0
        var earlier = ""
        var hasFailed = false
        /// Runs a line; returns whether the script goes on.
        func take(_ bytes: some Sequence<UInt8>) async throws -> Bool {
            number += 1
            let line = earlier + String(decoding: Array(bytes), as: UTF8.self)
            if ShellWords(line).openQuote != nil, !ShellInstruction.isOne(line) {
                earlier = line + "\n"
                return true
            }
            earlier = ""
            switch try await end(of: line) {
            case .done: return true
            case .quit: return false
            case .cancelled: throw CancellationError()
            case .failed(ExitStatus.readerGone.rawValue): throw ExitStatus.readerGone.code
            case .failed(let status):
                hasFailed = true
                note("Line \(number) failed\(keepsGoing ? "." : ", and what follows was not run.")")
                if !keepsGoing { throw ExitCode(status) }
                return true
            }
        }
        while true {
            let bytes = try await StandardInput.read()
            if bytes.isEmpty { break }
            let lines = (rest + bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(lines.last ?? [])
            for line in lines.dropLast() where !(try await take(line)) { return try finish(hasFailed) }
        }
        if !rest.isEmpty, !(try await take(rest)) { return try finish(hasFailed) }
        guard earlier.isEmpty else {
            throw CommandError("The last line has a quote that nothing closes.", .usage)
        }
        try finish(hasFailed)
    }

    private func end(of line: String) async throws -> Shell.End {
        let instruction: ShellInstruction
        do {
            instruction = try ShellInstruction(line)
        } catch {
            note("Error: \(error)")
            return .failed(error.status.rawValue)
        }
        return await shell.run(instruction, ShellHistory())
    }

    private func finish(_ hasFailed: Bool) throws {
        if hasFailed { throw ExitStatus.incomplete.code }
    }
}
