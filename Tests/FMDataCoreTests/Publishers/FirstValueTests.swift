import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import NIOConcurrencyHelpers
import OpenCombine
import Testing

@testable import FMDataCore

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
        nonisolated(unsafe) let delivered = publisher
        let task = Task { await delivered.awaitSingleResult() }
        for await _ in subscribed.stream {}
        task.cancel()
        for await _ in cancelled.stream {}
        guard case .failure(let failure) = await task.value else { return #expect(Bool(false)) }
        expectNoDifference(failure.code, .cancelled)
    }

    /// `firstValue()` throws a `CancellationError`, like every other `async` function. A call that returns a `Result`
    /// has one type of failure.
    @Test func whoWaitsInACancelledTaskGetsACancellationError() async {
        func waits<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> String {
            let task = Task { try await body() }
            task.cancel()
            switch await task.result {
            case .success(let value): return "\(value)"
            case .failure(is CancellationError): return "cancelled"
            case .failure(let error): return "\(type(of: error))"
            }
        }
        let first = await waits { try await Empty<Int, FMRest.APIError>(completeImmediately: false).firstValue() }
        expectNoDifference(first, "cancelled")
        let result = await waits {
            let result = await Empty<Int, FMRest.APIError>(completeImmediately: false).awaitSingleResult()
            return (result.failure?.code).map { "\($0)" } ?? "none"
        }
        expectNoDifference(result, "cancelled")
    }

    @Test func aCancelledTaskIsToldFromOtherFailuresInACatch() async {
        func caught(_ error: FMRest.APIError?) async -> String {
            do {
                let publisher = error.map { Fail<Int, FMRest.APIError>(error: $0).eraseToAnyPublisher() }
                try await (publisher ?? Empty(completeImmediately: false).eraseToAnyPublisher()).firstValue()
                return "value"
            } catch is CancellationError {
                return "cancelled"
            } catch FileMakerErrorCode.recordInUse {
                return "in use"
            } catch FMRest.APIError.Code.network {
                return "network"
            } catch let error as FMRest.APIError where error.isRetryable {
                return "later"
            } catch {
                return "other"
            }
        }
        let errors = [
            FMRest.APIError(.fileMaker, reason: "", fileMakerCode: .recordInUse), .init(.network, reason: ""),
            .init(.timeout, reason: ""), .init(.tls, reason: ""),
        ]
        var words: [String] = []
        for error in errors { words.append(await caught(error)) }
        let endless = Task { await caught(nil) }
        endless.cancel()
        words.append(await endless.value)
        expectNoDifference(words, ["in use", "network", "later", "other", "cancelled"])
    }

    // MARK: All values

    /// A loop that ends normally has received all values, so a cancelled loop has to throw.
    @Test func aLoopOverValuesThrowsWhenItsTaskIsCancelled() async {
        let subject = CurrentValueSubject<Int, FMRest.APIError>(1)
        let first = AsyncStream<Void>.makeStream()
        nonisolated(unsafe) let publisher = subject.eraseToAnyPublisher()
        let task = Task {
            for try await _ in publisher.values { first.continuation.finish() }
            return "all"
        }
        for await _ in first.stream {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aLoopOverValuesEndsWithThePublisherAndThrowsItsFailure() async throws {
        var seen: [Int] = []
        for try await value in [1, 2, 3].publisher.setFailureType(to: FMRest.APIError.self).values {
            seen.append(value)
        }
        expectNoDifference(seen, [1, 2, 3])
        let failing = [4].publisher.setFailureType(to: FMRest.APIError.self)
            .append(Fail(error: FMRest.APIError(.tls, reason: "r")))
        do {
            for try await value in failing.values { seen.append(value) }
            Issue.record("the publisher fails")
        } catch FMRest.APIError.Code.tls {
            expectNoDifference(seen, [1, 2, 3, 4])
        }
    }

    /// A loop asks for one value per iteration and cancels when it is left.
    @Test func aLoopOverValuesAsksForOneAfterTheOtherAndCancelsWhenItIsLeft() async throws {
        let history = NIOLockedValueBox<[String]>([])
        let publisher = [1, 2, 3].publisher.setFailureType(to: FMRest.APIError.self).handleEvents(
            receiveCancel: { history.withLockedValue { $0.append("cancelled") } },
            receiveRequest: { asked in history.withLockedValue { $0.append("\(asked)") } }
        )
        for try await value in publisher.values where value == 2 { break }
        expectNoDifference(history.withLockedValue { $0 }, ["max(1)", "max(1)", "cancelled"])
    }

    /// Some publishers publish without demand.
    /// Operators of asynchronous sequences demand it, such as the one that ends a loop when a service is stopped.
    @Test func valuesOfAPublisherThatIsSendableAreSendable() {
        func name(_ type: any Sendable.Type) -> String { "\(type)" }
        expectNoDifference(
            name(DataAPI.AsyncValues<DataAPI.LiveQuery<FieldData>>.self),
            "AsyncValues<LiveQuery<FieldData>>"
        )
    }

    @Test func whatComesWithoutBeingAskedForIsKept() async throws {
        let values = AwaitedValues<Int>()
        for value in [1, 2] { _ = values.receive(value) }
        values.receive(completion: .finished)
        let all = [try await values.next(), try await values.next(), try await values.next()]
        expectNoDifference(all, [1, 2, nil])
    }

    @Test func whoIsCancelledBeforeHeHasTakenAllIsTold() async throws {
        let values = AwaitedValues<Int>()
        _ = values.receive(1)
        values.receive(completion: .finished)
        let gate = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in gate.stream {}
            return try await values.next()
        }
        task.cancel()
        gate.continuation.finish()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aTaskThatIsAlreadyCancelledSendsNothing() async {
        let requested = NIOLockedValueBox(false)
        let publisher = Just(1)
            .setFailureType(to: FMRest.APIError.self)
            .handleEvents(receiveRequest: { _ in requested.withLockedValue { $0 = true } })
        nonisolated(unsafe) let delivered = publisher
        let gate = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in gate.stream {}
            return await delivered.awaitSingleResult()
        }
        task.cancel()
        gate.continuation.finish()
        guard case .failure(let failure) = await task.value else { return #expect(Bool(false)) }
        expectNoDifference(failure.code, .cancelled)
        #expect(!requested.withLockedValue { $0 })
    }

    /// A value and a cancellation race: the continuation is resumed once, whichever comes first.
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
