import FMData
import FMTestSupport
import NIOConcurrencyHelpers
import Testing

@testable import FMDataCore

/// One thread at a time works for a subscription, and a thread of the program does not do the work of others.
@Suite struct SoleWorkerTests {
    /// A worker with its lock.
    private final class Shared: Sendable {
        private let worker = NIOLockedValueBox(SoleWorker())

        func start() -> Bool { worker.withLockedValue { $0.start() } }
        func stop() { worker.withLockedValue { $0.stop() } }
        func noteEvent() { worker.withLockedValue { $0.noteEvent() } }
        func leaves() -> Bool { worker.withLockedValue { $0.leaves() } }
    }

    @Test func oneIsAtWorkUntilItStops() {
        let worker = Shared()
        #expect(worker.start())
        #expect(!worker.start())
        worker.stop()
        #expect(worker.start())
    }

    @Test func whatOnesOwnThreadBringsAboutIsDoneByIt() {
        let worker = Shared()
        worker.noteEvent()
        _ = worker.start()
        worker.noteEvent()
        #expect(!worker.leaves())
    }

    @Test func whatAnotherThreadHasBroughtIsLeftToTheBackgroundOnce() {
        let worker = Shared()
        _ = worker.start()
        raceThreads({ worker.noteEvent() })
        #expect(worker.leaves())
        // The background thread is the worker now, whatever comes.
        raceThreads({ worker.noteEvent() })
        #expect(!worker.start())
        raceDeliveries({ #expect(!worker.leaves()) })
        worker.stop()
        #expect(worker.start())
        #expect(!worker.leaves())
    }

    @Test func aBackgroundThreadDoesAll() {
        let worker = Shared()
        raceDeliveries({
            _ = worker.start()
            raceThreads({ worker.noteEvent() })
            #expect(!worker.leaves())
        })
    }
}
