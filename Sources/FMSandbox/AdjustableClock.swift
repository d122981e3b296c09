public import Foundation
import NIOConcurrencyHelpers

/// The clock of the machine, which goes on by itself and can be moved on besides: what `fmdata sandbox` runs on.
public final class AdjustableClock: AdvancingClock {
    private struct State {
        /// How far it was moved on.
        var offset: TimeInterval = 0
        /// Who waits for the machine's clock, to be woken when this one is moved on.
        var naps: [Int: Task<Void, Never>] = [:]
        var nextNap = 0
    }

    private let state = NIOLockedValueBox(State())

    /// A clock that shows what the machine's does.
    public init() {}

    /// The machine's date and time, and as much more as the clock was moved on.
    public var now: Date { Date() + state.withLockedValue(\.offset) }

    /// Moves the clock on and wakes everybody whose time has come.
    public func advance(by duration: Duration) {
        let naps = state.withLockedValue { state in
            state.offset += duration.seconds
            return state.naps.values.map(\.self)
        }
        for nap in naps { nap.cancel() }
    }

    /// Returns when the duration has passed, by itself or because the clock was moved on.
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

    /// Sleeps what is left; nil when nothing is.
    private func nap(until deadline: Date) -> (Int, Task<Void, Never>)? {
        // Under the lock: a move that comes after the look at the time finds the nap, and ends it.
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
