import CustomDump
import FMSandbox
import FMTestSupport
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMData

@Suite(.timeLimit(.minutes(15))) struct FirstValueTests {
    @Test func givesTheFirstValueAndCancels() async throws {
        let cancelled = NIOLockedValueBox(false)
        let publisher = [1, 2, 3].publisher
            .setFailureType(to: FMRest.APIError.self)
            .handleEvents(receiveCancel: { cancelled.withLockedValue { $0 = true } })
        #expect(try await publisher.firstValue() == 1)
        #expect(cancelled.withLockedValue { $0 })
    }

    @Test func asksForOneValue() async throws {
        let demand = NIOLockedValueBox<[Subscribers.Demand]>([])
        let publisher = [1, 2].publisher
            .setFailureType(to: FMRest.APIError.self)
            .handleEvents(receiveRequest: { asked in demand.withLockedValue { $0.append(asked) } })
        _ = try await publisher.firstValue()
        expectNoDifference(demand.withLockedValue { $0 }, [.max(1)])
    }

    @Test func throwsTheFailureItself() async {
        let error = FMRest.APIError(.network, reason: "gone", fileMakerCode: .recordMissing)
        await #expect(throws: FMRest.APIError.self) {
            try await Fail<Int, FMRest.APIError>(error: error).firstValue()
        }
        let result = await Fail<Int, FMRest.APIError>(error: error).awaitSingleResult()
        guard case .failure(let failure) = result else { return #expect(Bool(false)) }
        expectNoDifference(failure.reason, "gone")
    }

    @Test func anEmptyPublisherThrowsInsteadOfHanging() async {
        let result = await Empty<Int, FMRest.APIError>().awaitSingleResult()
        guard case .failure(let failure) = result else { return #expect(Bool(false)) }
        expectNoDifference(failure.code, .noValue)
    }

    @Test func cancellingTheTaskCancelsTheSubscription() async {
        let subject = PassthroughSubject<Int, FMRest.APIError>()
        let (subscribed, cancelled) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let publisher = subject.handleEvents(
            receiveSubscription: { _ in subscribed.continuation.finish() },
            receiveCancel: { cancelled.continuation.finish() }
        )
        nonisolated(unsafe) let handedOver = publisher
        let task = Task { await handedOver.awaitSingleResult() }
        for await _ in subscribed.stream {}
        task.cancel()
        for await _ in cancelled.stream {}
        guard case .failure(let failure) = await task.value else { return #expect(Bool(false)) }
        expectNoDifference(failure.code, .cancelled)
    }

    @Test func aTaskThatIsAlreadyCancelledSendsNothing() async {
        let requested = NIOLockedValueBox(false)
        let publisher = Just(1)
            .setFailureType(to: FMRest.APIError.self)
            .handleEvents(receiveRequest: { _ in requested.withLockedValue { $0 = true } })
        nonisolated(unsafe) let handedOver = publisher
        let gate = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in gate.stream {}
            return await handedOver.awaitSingleResult()
        }
        task.cancel()
        gate.continuation.finish()
        guard case .failure(let failure) = await task.value else { return #expect(Bool(false)) }
        expectNoDifference(failure.code, .cancelled)
        #expect(!requested.withLockedValue { $0 })
    }

    /// Value and cancellation race; whichever wins, the continuation is resumed once.
    @Test func racesEndOnce() async {
        for _ in 0..<500 {
            let subject = PassthroughSubject<Int, FMRest.APIError>()
            let subscribed = AsyncStream<Void>.makeStream()
            nonisolated(unsafe) let publisher = subject.handleEvents(
                receiveRequest: { _ in subscribed.continuation.finish() }
            )
            nonisolated(unsafe) let source = subject
            let task = Task { await publisher.awaitSingleResult() }
            for await _ in subscribed.stream {}
            let sender = Task { source.send(1) }
            task.cancel()
            switch await task.value {
            case .success(let value): expectNoDifference(value, 1)
            case .failure(let error): expectNoDifference(error.code, .cancelled)
            }
            await sender.value
        }
    }

    @Test(.tags(.earlierClients))
    func awaitingEndsOnAnEmptyPublisherAndOnCancellationAndKeepsTheError() async throws {
        let nothing = await Empty<Int, FMRest.APIError>().awaitSingleResult()
        expectNoDifference(nothing.failure?.code, .noValue)
        let failure = await Fail<Int, FMRest.APIError>(error: .init(.tls, reason: "r")).awaitSingleResult()
        expectNoDifference(failure.failure?.code, .tls)
        let endless = Task { await Empty<Int, FMRest.APIError>(completeImmediately: false).awaitSingleResult() }
        endless.cancel()
        let cancelled = await endless.value
        expectNoDifference(cancelled.failure?.code, .cancelled)
    }
}
