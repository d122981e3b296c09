import Dispatch
import Foundation

/// SIGINT and SIGTERM as events. They are caught once the value is made, so that whoever has started the program may end it at
/// once.
final class Interruption: @unchecked Sendable {
    // @unchecked: the sources are made in `init` and cancelled later, which any thread may do.
    private let sources: [any DispatchSourceSignal]
    private let signals: AsyncStream<Int32>

    init() async {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        signals = stream
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            // A source listens some time after it was resumed. Were the signal ignored until then it would be lost.
            await withCheckedContinuation { listening in
                source.setRegistrationHandler {
                    #if canImport(Darwin)
                    // There a source sees the signals that the program ignores; elsewhere it has a handler of its own.
                    signal(number, SIG_IGN)
                    #endif
                    listening.resume()
                }
                source.resume()
            }
            sources.append(source)
        }
        self.sources = sources
    }

    /// Returns the first signal when it has come, and nil when the task is cancelled. It leaves signals to the system, so that
    /// whoever sends another one does not have to wait.
    @discardableResult
    func wait() async -> Int32? {
        defer {
            for source in sources { source.cancel() }
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        }
        for await number in signals { return number }
        return nil
    }
}
