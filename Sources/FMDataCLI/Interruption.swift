import Dispatch
import Foundation

/// SIGINT and SIGTERM as events. They are caught when the initializer has returned, so that a parent process may send
/// one from then on.
final class Interruption: @unchecked Sendable {
    // @unchecked: the sources are made in `init` and cancelled later, which is allowed on any thread.
    private let sources: [any DispatchSourceSignal]
    private let signals: AsyncStream<Int32>

    init() async {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        signals = stream
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            // A source starts to listen some time after `resume()`. If the signal were ignored before that, it would be
            // lost.
            await withCheckedContinuation { listening in
                source.setRegistrationHandler {
                    #if canImport(Darwin)
                    // On Darwin a source receives the signals that the program ignores; elsewhere it installs its own
                    // handler.
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

    /// Returns the first signal; nil if the task is cancelled. Afterwards signals have their default effect, so that
    /// another one ends the program at once.
    ///
    /// - Parameter takesCtrlC: Called for each Ctrl-C: whether it has another meaning, and the next signal is awaited.
    @discardableResult
    func wait(takesCtrlC: @Sendable () async -> Bool = { false }) async -> Int32? {
        defer {
            for source in sources { source.cancel() }
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        }
        for await number in signals {
            if number == SIGINT, await takesCtrlC() { continue }
            return number
        }
        return nil
    }
}
