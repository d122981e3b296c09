import CustomDump
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

@Suite struct OnDemandPublisherTests {
    private typealias Subject = PassthroughSubject<Int, FMRest.APIError>

    private func publisher(
        _ made: Locked<Int>,
        _ upstream: some Publisher<Int, FMRest.APIError>
    ) -> OnDemandPublisher<Int, FMRest.APIError> {
        OnDemandPublisher {
            made.change { $0 += 1 }
            return upstream.eraseToAnyPublisher()
        }
    }

    @Test func nothingIsMadeWithoutDemand() {
        let made = Locked(0)
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>(initialDemand: .none)
        publisher(made, Subject()).subscribe(subscriber)
        expectNoDifference(made.value, 0)
        subscriber.cancel()
        expectNoDifference(made.value, 0)
        expectNoDifference(subscriber.values, [])
    }

    @Test func demandIsKept() {
        let made = Locked(0)
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>(initialDemand: .max(2))
        publisher(made, [1, 2, 3, 4].publisher.setFailureType(to: FMRest.APIError.self)).subscribe(subscriber)
        expectNoDifference(subscriber.values, [1, 2])
        subscriber.request(.max(1))
        expectNoDifference(subscriber.values, [1, 2, 3])
        subscriber.request(.unlimited)
        expectNoDifference(subscriber.values, [1, 2, 3, 4])
        guard case .finished? = subscriber.completionIfAny else { return #expect(Bool(false), "it has finished") }
        expectNoDifference(made.value, 1)
    }

    @Test func aFailureEndsIt() {
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
        publisher(Locked(0), Fail(error: FMRest.APIError(.network, reason: "broke"))).subscribe(subscriber)
        guard case .failure(let error)? = subscriber.completionIfAny else {
            return #expect(Bool(false), "it has failed")
        }
        expectNoDifference(error.code, .network)
    }

    @Test func cancellingReachesWhatWasMadeAndLetsItGo() {
        weak var released: Subject?
        let cancelled = Locked(0)
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>()
        do {
            let subject = Subject()
            released = subject
            publisher(Locked(0), subject.handleEvents(receiveCancel: { cancelled.change { $0 += 1 } }))
                .subscribe(subscriber)
            subject.send(1)
            subscriber.cancel()
            subscriber.cancel()
            subject.send(2)
        }
        expectNoDifference(subscriber.values, [1])
        expectNoDifference(cancelled.value, 1)
        #expect(released == nil)
    }

    /// Demand from inside the first value goes to the publisher that was made; no second one is made.
    @Test func askingFromInsideAValue() {
        let made = Locked(0)
        let subscriber = TrackingSubscriber<Int, FMRest.APIError>(
            initialDemand: .max(1),
            demandAfterValue: { _ in .max(1) }
        )
        publisher(made, [1, 2, 3].publisher.setFailureType(to: FMRest.APIError.self)).subscribe(subscriber)
        expectNoDifference(subscriber.values, [1, 2, 3])
        expectNoDifference(made.value, 1)
    }
}
