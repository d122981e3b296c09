import Foundation

/// The standard input of a program that a test has started.
public enum StandardInput {
    /// Its lines, read on a thread of its own.
    public static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }
}
