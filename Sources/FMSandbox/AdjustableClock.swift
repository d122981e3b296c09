public import Foundation
import NIOConcurrencyHelpers

/// The machine's clock, which can also be moved forward. `fmdata sandbox` runs on it.
public final class AdjustableClock: AdvancingClock {
    private struct State {
        /// The total duration the clock was moved forward.
        var offset: TimeInterval = 0
        /// Sleeping tasks; moving the clock cancels them, so that they check the time again.
        var naps: [Int: Task<Void, Never>] = [:]
        var nextNap = 0
    }

    private let state = NIOLockedValueBox(State())

    /// Creates a clock that shows the machine's time until it is moved.
    public init() {}

    /// The machine's date and time plus all durations passed to ``advance(by:)``.
    public var now: Date { Date() + state.withLockedValue(\.offset) }

    /// Moves the clock forward and resumes every wait whose duration has passed.
    public func advance(by duration: Duration) {
        let naps = state.withLockedValue { state in
            state.offset += duration.seconds
            return state.naps.values.map(\.self)
        }
        for nap in naps { nap.cancel() }
    }

    /// Returns once the duration has passed, in real time or because the clock was moved forward. Throws
    /// `CancellationError` if the task is cancelled first.
    public func wait(for duration: Duration) async throws {
        let deadline = now + duration.seconds
        while let (id, nap) = nap(until: deadline) {
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
            state.withLockedValue { $0.naps[id] = nil }
            try Task.checkCancellation()
        }
    }

    /// Starts a sleep until the deadline; nil if the deadline has passed.
    private func nap(until deadline: Date) -> (Int, Task<Void, Never>)? {
        // Time check and registration share the lock, so an `advance(by:)` that comes later finds this nap and cancels
        // it.
        state.withLockedValue { state in
            let rest = deadline.timeIntervalSince(Date() + state.offset)
            guard rest > 0 else { return nil }
            let nap = Task<Void, Never> { try? await Task.sleep(for: .seconds(rest)) }
            state.nextNap += 1
            state.naps[state.nextNap] = nap
            return (state.nextNap, nap)
        }
    }
}
