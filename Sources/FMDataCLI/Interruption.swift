import Dispatch
import FMData
import Foundation

/// SIGINT, SIGTERM and SIGHUP, by which a closed terminal ends its programs, as events. They are caught when the
/// initializer has returned, so that a parent process may send one from then on. What the parent has told the program
/// to ignore stays ignored, as `nohup` does with SIGHUP.
final class Interruption: Sendable {
    private let sources: Guarded<[any DispatchSourceSignal]>
    private let signals: AsyncStream<Int32>
    private let numbers: [Int32]

    init() async {
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        signals = stream
        var sources: [any DispatchSourceSignal] = []
        for number in numbers {
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
        self.sources = Guarded(sources)
    }

    /// Returns the first signal; nil if the task is cancelled. Afterwards signals have their default effect, so that
    /// another one ends the program at once.
    @discardableResult
    func wait() async -> Int32? {
        defer {
            sources.withLock { for source in $0 { source.cancel() } }
            for number in numbers { signal(number, SIG_DFL) }
        }
        return await signals.first { _ in true }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let effect = signal(number, SIG_IGN)
        signal(number, effect)
        // Functions cannot be compared, and this one is no function but a number.
        return unsafeBitCast(effect, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
