import CustomDump
import FMData
import FMHTTP
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// The contract of one attempt: nothing before demand, one value, one completion, and everything released.
@Suite(.timeLimit(.minutes(15))) struct AnswerPublisherTests {
    private typealias Answer = AnswerPublisher<DataAPI.Server.ProductInfoContainer>
    private typealias Subscriber = TrackingSubscriber<Answer.Output, FMRest.APIError>

    private func answer(_ world: World) -> Answer {
        AnswerPublisher(server: world.database.server, request: .productInfo(), token: nil)
    }

    @Test func demandOfOneIsOneRequestOneValueAndTheEnd() async throws {
        try await World.run { world in
            let subscriber = Subscriber(initialDemand: .none)
            answer(world).subscribe(subscriber)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
            subscriber.request(.max(1))
            subscriber.request(.max(1))
            if case .failure(let error) = await subscriber.completion() { throw error }
            expectNoDifference(subscriber.values.count, 1)
            expectNoDifference(world.sandbox.counters.requests[.productInfo], 1)
            // Both calls have no effect after the completion.
            subscriber.request(.unlimited)
            subscriber.cancel()
            expectNoDifference(subscriber.history.count, 3)
            expectNoDifference(world.sandbox.counters.requests[.productInfo], 1)
        }
    }

    @Test func eachSubscriptionIsARequest() async throws {
        try await World.run { world in
            let answer = answer(world)
            for count in 1...2 {
                let values = try await answer.outcome().get()
                expectNoDifference(values.count, 1)
                expectNoDifference(world.sandbox.counters.requests[.productInfo], count)
            }
        }
    }

    @Test func cancellingBeforeDemandSendsNothingAndLetsGo() async throws {
        try await World.run { world in
            weak var released: Subscriber?
            do {
                let subscriber = Subscriber(initialDemand: .none)
                released = subscriber
                answer(world).subscribe(subscriber)
                subscriber.cancel()
                subscriber.request(.max(1))
            }
            #expect(released == nil)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    @Test func cancellingWhileTheServerThinksEndsTheExchange() async throws {
        let clock = ManualClock()
        try await World.run(
            sandbox: {
                $0.clock = clock
                $0.latency = .seconds(1)
            }
        ) { world in
            let subscriber = Subscriber(initialDemand: .unlimited)
            answer(world).subscribe(subscriber)
            await clock.untilWaiting()
            subscriber.cancel()
            await until { world.database.server.client.counts == .init() }
            // The subscription is the only event.
            expectNoDifference(subscriber.history.count, 1)
            clock.advance(by: .seconds(1))
        }
    }

    @Test func whatCannotBeSentFailsUnsent() async throws {
        try await World.run { world in
            var request = DataAPIRequest<DataAPI.Server.ProductInfoContainer>.productInfo()
            request.path = DataAPIPath("..")
            let answer = AnswerPublisher(server: world.database.server, request: request, token: nil)
            #expect(await answer.outcome().failure?.code == .invalidRequest)
            expectNoDifference(world.sandbox.counters.totalRequests, 0)
        }
    }

    @Test(arguments: [
        (Sandbox.Fault.brokenJSON, FMRest.APIError.Code.decoding), (.html(status: 502), .notDataAPI),
        (.reset, .network),
    ])
    func anAnswerThatIsNoneIsOneError(_ fault: Sandbox.Fault, _ code: FMRest.APIError.Code) async throws {
        try await World.run { world in
            world.sandbox.inject(fault, on: .productInfo, count: 2)
            let subscriber = Subscriber(initialDemand: .unlimited)
            answer(world).subscribe(subscriber)
            guard case .failure(let error) = await subscriber.completion() else {
                Issue.record("the fault was not noticed")
                return
            }
            expectNoDifference(error.code, code)
            expectNoDifference(subscriber.history.count, 2)
        }
    }
}
