import Foundation

/// A program that a test has started, with its standard streams.
public final class Program: Sendable {
    private let process: Process
    private let input = Pipe()
    private let lines: AsyncStream<String>

    /// Starts it, in a folder if one is given.
    public init(_ path: String, _ arguments: [String], in folder: URL? = nil) throws {
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        try process.run()
        self.process = process
        Thread.detachNewThread {
            var rest = ""
            while true {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { break }
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    continuation.yield(String(rest[..<end]))
                    rest = String(rest[rest.index(after: end)...])
                }
            }
            continuation.finish()
        }
    }

    /// The next line that it prints; `nil` when it has ended.
    public func line() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// Writes a line to its input.
    public func say(_ line: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Ends its input.
    public func endInput() { try? input.fileHandleForWriting.close() }

    /// Ends its input, and waits until it has ended.
    public func finish() async {
        endInput()
        while await line() != nil {}
        process.waitUntilExit()
    }

    /// Sends it a signal.
    public func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Kills it with SIGKILL.
    public func killNow() {
        signal(SIGKILL)
        process.waitUntilExit()
    }
}
