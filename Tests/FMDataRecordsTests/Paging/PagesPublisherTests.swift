import CustomDump
import FMData
import FMHTTP
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore
@testable import FMDataRecords

/// The publisher's contract, with answers that the test sends.
@Suite(.timeLimit(.minutes(15))) struct PagesPublisherTests {
    private typealias Page = FetchedPage<Int>
    private typealias Answer = PassthroughSubject<Page, FMRest.APIError>

    /// A server of 25 records. The item of each is its id.
    private final class Source {
        private(set) var questions: [PageQuestion] = []
        private(set) var answers: [Answer] = []
        private(set) var cancelled = 0
        private(set) var drift: [DataAPI.PageDrift] = []
        var table = PagedTable(count: 25)
        /// Whether it answers at once, while it is being asked.
        var isPrompt = false
        let sizes = PageSizes()

        func pages(_ size: Int? = 10, isPoll: Bool = false) -> PagesPublisher<Int> {
            PagesPublisher(
                strategy: OffsetPaging(),
                sizes: sizes.memory(of: "items", fixed: size),
                isPoll: isPoll,
                fetch: { self.ask($0) },
                log: { self.drift += $0 },
                error: { FMRest.APIError(.pagesDrifted, reason: "\($0)") }
            )
        }

        private func ask(_ question: PageQuestion) -> AnyPublisher<Page, FMRest.APIError> {
            questions.append(question)
            if isPrompt { return Just(page(question)).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher() }
            let answer = Answer()
            answers.append(answer)
            return answer.handleEvents(receiveCancel: { self.cancelled += 1 }).eraseToAnyPublisher()
        }

        private func page(_ question: PageQuestion) -> Page {
            let answer = table.answer(to: question)
            return Page(items: answer.ids, answer: answer)
        }

        /// Answers the last question.
        func answer() {
            guard let question = questions.last, let answer = answers.last else { return }
            answer.send(page(question))
            answer.send(completion: .finished)
        }

        func fail(_ error: FMRest.APIError) { answers.last?.send(completion: .failure(error)) }
    }

    private let source = Source()

    private func subscriber(
        _ demand: Subscribers.Demand,
        after: @escaping @Sendable ([Int]) -> Subscribers.Demand = { _ in .none }
    ) -> TrackingSubscriber<[Int], FMRest.APIError> {
        TrackingSubscriber(initialDemand: demand, demandAfterValue: after)
    }

    private var pages: AnyPublisher<[Int], FMRest.APIError> { source.pages().map(\.items).eraseToAnyPublisher() }

    private let timedOut = FMRest.APIError(
        .timeout,
        reason: "too slow",
        underlying: HTTPClientError(code: .firstByteTimeout, outcome: .unknown)
    )

    @Test func nothingIsAskedBeforeDemand() {
        let subscriber = subscriber(.none)
        pages.subscribe(subscriber)
        expectNoDifference(source.questions, [])
        subscriber.cancel()
        subscriber.request(.unlimited)
        expectNoDifference(source.questions, [])
    }

    @Test func demandIsABudgetOfPages() {
        let subscriber = subscriber(.max(1))
        pages.subscribe(subscriber)
        expectNoDifference(source.questions.count, 1)
        source.answer()
        expectNoDifference(subscriber.values, [Array(1...10)])
        expectNoDifference(source.questions.count, 1)
        subscriber.request(.max(2))
        source.answer()
        expectNoDifference(source.questions.count, 3)
        source.answer()
        expectNoDifference(subscriber.values, [Array(1...10), Array(11...20), Array(21...25)])
        guard case .finished? = subscriber.completionIfAny else { return #expect(Bool(false), "it has finished") }
    }

    @Test func eachSubscriptionReadsAnew() {
        for _ in 0..<2 {
            let subscriber = subscriber(.unlimited)
            source.isPrompt = true
            pages.subscribe(subscriber)
            expectNoDifference(subscriber.values.flatMap(\.self), Array(1...25))
        }
        expectNoDifference(source.questions.count, 6)
    }

    @Test func demandFromInsideAPage() {
        source.isPrompt = true
        let subscriber = subscriber(.max(1), after: { _ in .max(1) })
        pages.subscribe(subscriber)
        expectNoDifference(subscriber.values.count, 3)
    }

    @Test(.thorough) func manyPagesTakeNoStack() {
        source.isPrompt = true
        source.table = PagedTable(count: 20_000)
        let subscriber = subscriber(.unlimited)
        source.pages(1).map(\.items).subscribe(subscriber)
        expectNoDifference(subscriber.values.count, 20_000)
    }

    @Test func cancellingEndsWhatIsOnItsWay() {
        let subscriber = subscriber(.unlimited)
        pages.subscribe(subscriber)
        subscriber.cancel()
        subscriber.cancel()
        expectNoDifference(source.cancelled, 1)
        source.answer()
        expectNoDifference(subscriber.values, [])
        expectNoDifference(source.questions.count, 1)
    }

    @Test func cancellingFromInsideAPage() {
        source.isPrompt = true
        let cancel = Locked<(@Sendable () -> Void)?>(nil)
        let subscriber = TrackingSubscriber<[Int], FMRest.APIError>(onEvent: { event in
            if case .value = event { cancel.value?() }
        })
        cancel.change { $0 = { subscriber.cancel() } }
        pages.subscribe(subscriber)
        expectNoDifference(subscriber.values.count, 1)
        #expect(subscriber.completionIfAny == nil)
        expectNoDifference(source.questions.count, 1)
        cancel.change { $0 = nil }
    }

    @Test func aFailureComesOnceAndIsTheServers() {
        let subscriber = subscriber(.unlimited)
        pages.subscribe(subscriber)
        source.answer()
        source.fail(FMRest.APIError(.network, reason: "broke"))
        expectNoDifference(subscriber.values.count, 1)
        guard case .failure(let error)? = subscriber.completionIfAny else {
            return #expect(Bool(false), "it has failed")
        }
        expectNoDifference(error.code, .network)
        expectNoDifference(source.questions.count, 2)
    }

    @Test func aCallWithoutAnAnswerIsAFailure() {
        let subscriber = subscriber(.unlimited)
        pages.subscribe(subscriber)
        source.answers.last?.send(completion: .finished)
        guard case .failure(let error)? = subscriber.completionIfAny else {
            return #expect(Bool(false), "it has failed")
        }
        expectNoDifference(error.code, .noValue)
    }

    @Test func aPageThatTimedOutIsAskedForAgainAtHalfTheSize() {
        let subscriber = subscriber(.unlimited)
        source.pages(nil).map(\.items).subscribe(subscriber)
        source.fail(timedOut)
        source.fail(FMRest.APIError(.responseTooLarge, reason: "too large"))
        expectNoDifference(source.questions.map(\.limit), [100, 50, 25])
        source.answer()
        expectNoDifference(subscriber.values, [Array(1...25)])
        // The page was full and quick, so the next size is larger.
        expectNoDifference(source.sizes["items"], 37)
    }

    /// A poll is repeated as a whole, and an answer that did not come says nothing about the page size.
    @Test func silenceEndsThePagesOfAPoll() {
        let subscriber = subscriber(.unlimited)
        source.pages(nil, isPoll: true).map(\.items).subscribe(subscriber)
        // An answer that is too slow or too large means a smaller page in a poll as well.
        let slow = HTTPClientError(code: .tooSlow, outcome: .answered)
        source.fail(FMRest.APIError(.timeout, reason: "too slow", underlying: slow))
        source.fail(FMRest.APIError(.responseTooLarge, reason: "too large"))
        source.fail(timedOut)
        expectNoDifference(source.questions.map(\.limit), [100, 50, 25])
        guard case .failure(let error)? = subscriber.completionIfAny else {
            return #expect(Bool(false), "it has failed")
        }
        expectNoDifference(error.code, .timeout)
        expectNoDifference(source.sizes["items"], nil)
    }

    /// A call that waits for a session or a connection waits no less for a smaller page.
    @Test func aTimeThatPassedBeforeAnythingWasSentIsAFailure() {
        for outcome in [nil, HTTPClientError(code: .connectTimeout, outcome: .notSent)] {
            let subscriber = subscriber(.unlimited)
            source.pages(nil).map(\.items).subscribe(subscriber)
            source.fail(FMRest.APIError(.timeout, reason: "no session", underlying: outcome))
            guard case .failure(let error)? = subscriber.completionIfAny else {
                return #expect(Bool(false), "it has failed")
            }
            expectNoDifference(error.code, .timeout)
        }
    }

    @Test func whatMovedIsLogged() {
        let subscriber = subscriber(.max(1))
        pages.subscribe(subscriber)
        source.answer()
        source.table.delete(3)
        source.isPrompt = true
        subscriber.request(.unlimited)
        expectNoDifference(source.drift, [DataAPI.PageDrift(.moved, places: -1)])
        expectNoDifference(subscriber.values.flatMap(\.self), Array(1...25))
    }

    @Test func allIsLetGoAtTheEnd() {
        final class Token {}
        for end in ["finish", "fail", "cancel"] {
            weak var released: Token?
            weak var subscription: TrackingSubscriber<[Int], FMRest.APIError>?
            do {
                let token = Token()
                released = token
                let source = Source()
                let pages = PagesPublisher<Int>(
                    strategy: OffsetPaging(),
                    sizes: source.sizes.memory(of: "items", fixed: 10),
                    fetch: { question in
                        withExtendedLifetime(token) {}
                        let answer = PageAnswer(ids: Array(1...10), foundCount: end == "finish" ? 10 : 20)
                        let page = Just(Page(items: answer.ids, answer: answer))
                            .setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
                        let isFirst = question.selection == .records(offset: 1)
                        return isFirst || end != "fail"
                            ? page : Fail(error: FMRest.APIError(.network, reason: "broke")).eraseToAnyPublisher()
                    },
                    log: { _ in },
                    error: { FMRest.APIError(.pagesDrifted, reason: "\($0)") }
                )
                let subscriber = subscriber(end == "cancel" ? .max(1) : .unlimited)
                subscription = subscriber
                pages.map(\.items).subscribe(subscriber)
                if end == "cancel" { subscriber.cancel() }
                expectNoDifference(subscriber.values.count, 1, end)
            }
            #expect(released == nil, "\(end)")
            #expect(subscription == nil, "\(end)")
        }
    }

    @Test func requestAndCancelMayRace() {
        for _ in 0..<50 {
            let source = Source()
            source.isPrompt = true
            let subscriber = subscriber(.none)
            source.pages().map(\.items).subscribe(subscriber)
            race(rounds: 1, { subscriber.request(.unlimited) }, { subscriber.cancel() })
            let values = subscriber.values.flatMap(\.self)
            expectNoDifference(values, Array(1...25).prefix(values.count).map(\.self))
        }
    }
}
