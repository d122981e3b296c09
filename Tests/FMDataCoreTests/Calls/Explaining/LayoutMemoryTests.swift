import CustomDump
import FMData
import FMTestSupport
import NIOCore
import OpenCombine
import Testing

@testable import FMDataCore

/// What is remembered about a file, and who requests it when. Time advances only when a test says so.
@Suite struct LayoutMemoryTests {
    /// Requests that are answered when the test says so.
    private final class Requests {
        private(set) var count = 0
        private(set) var cancelled = 0
        private var answers: [PassthroughSubject<FileAnswer, FMRest.APIError>] = []

        func next() -> AnyPublisher<FileAnswer, FMRest.APIError> {
            count += 1
            let answer = PassthroughSubject<FileAnswer, FMRest.APIError>()
            answers.append(answer)
            return answer.handleEvents(receiveCancel: { self.cancelled += 1 }).eraseToAnyPublisher()
        }

        /// Sends a value; the caller sends the completion later.
        func answer() -> PassthroughSubject<FileAnswer, FMRest.APIError> {
            let answer = answers.removeFirst()
            answer.send(.names([]))
            return answer
        }

        func succeed(_ answer: FileAnswer = .names([])) {
            let request = answers.removeFirst()
            request.send(answer)
            request.send(completion: .finished)
        }

        func fail() { answers.removeFirst().send(completion: .failure(.init(.network, reason: "broken"))) }
    }

    private let time = TestClock()
    private let requests = Requests()
    private let asker = Requests()
    private let memory: LayoutMemory

    init() {
        memory = LayoutMemory(time: time.sessionTime)
    }

    private func ask(
        _ question: FileQuestion = .layout("People"),
        for asker: AnyObject? = nil,
        within limit: TimeAmount? = nil
    ) -> Recorder<FileAnswer?> {
        memory.answer(to: question, for: asker ?? self.asker, by: limit.map { time.deadline + $0 }, requests.next)
            .setFailureType(to: FMRest.APIError.self)
            .record { $0 == nil ? "nothing" : "answer" }
    }

    @Test func whoAsksMeanwhileWaitsForTheSameAnswer() {
        let all = (0..<3).map { _ in ask() }
        expectNoDifference(requests.count, 1)
        requests.succeed()
        for one in all { expectNoDifference(one.history, ["answer", "finished"]) }
    }

    /// An answer is delivered when its call has ended, since the requests that follow need its session.
    @Test func anAnswerIsTheirsWhenItsCallHasEnded() {
        let one = ask()
        let request = requests.answer()
        expectNoDifference(one.history, [])
        request.send(completion: .finished)
        expectNoDifference(one.history, ["answer", "finished"])
    }

    @Test func anAnswerHoldsForAMinute() {
        let first = ask()
        requests.succeed()
        expectNoDifference(first.history, ["answer", "finished"])
        time.advance(by: .seconds(59))
        expectNoDifference(ask().history, ["answer", "finished"])
        expectNoDifference(requests.count, 1)
        time.advance(by: .seconds(1))
        expectNoDifference(ask().history, [])
        expectNoDifference(requests.count, 2)
    }

    @Test func noAnswerHoldsAsLong() {
        let first = ask()
        requests.fail()
        expectNoDifference(first.history, ["nothing", "finished"])
        expectNoDifference(ask().history, ["nothing", "finished"])
        time.advance(by: .seconds(60))
        _ = ask()
        expectNoDifference(requests.count, 2)
    }

    @Test func otherQuestionsAreAskedForThemselves() {
        for question in [FileQuestion.layout("People"), .layout("Orders"), .layoutNames, .scriptNames] {
            _ = ask(question)
        }
        expectNoDifference(requests.count, 4)
    }

    @Test func whatIsKnownOfALayoutIsKnownWithoutAsking() {
        #expect(memory.known("People") == nil)
        let first = ask()
        let metadata = DataAPI.Layout.LayoutMetaData(fieldMetaData: [], portalMetaData: [:], valueLists: nil)
        requests.succeed(.layout(metadata))
        expectNoDifference(first.history, ["answer", "finished"])
        expectNoDifference(memory.known("People"), metadata)
        #expect(memory.known("Orders") == nil)
        time.advance(by: .seconds(60))
        #expect(memory.known("People") == nil)
    }

    /// Callers with different pools do not share a request, because one may wait for a session that the other holds.
    @Test func whoHasOtherSessionsAsksForThemselvesAndKnowsTheSame() {
        let first = ask()
        let other = ask(for: requests)
        expectNoDifference(requests.count, 2)
        requests.succeed()
        expectNoDifference(first.history, ["answer", "finished"])
        expectNoDifference(other.history, [])
        expectNoDifference(ask(for: requests).history, ["answer", "finished"])
    }

    @Test func theLastToLeaveEndsTheRequest() {
        let first = ask()
        let second = ask()
        first.cancel()
        expectNoDifference(requests.cancelled, 0)
        second.cancel()
        expectNoDifference(requests.cancelled, 1)
        expectNoDifference(first.history + second.history, [])
        _ = ask()
        expectNoDifference(requests.count, 2)
    }

    @Test func whoseTimeIsOverGoesOnWithout() {
        let hurried = ask(within: .seconds(2))
        let patient = ask()
        time.advance(by: .seconds(2))
        expectNoDifference(hurried.history, ["nothing", "finished"])
        requests.succeed()
        expectNoDifference(patient.history, ["answer", "finished"])
    }

    @Test func anAlarmEndsWithItsWaiter() {
        _ = ask(within: .seconds(2))
        requests.succeed()
        let second = ask(.layoutNames, within: .seconds(2))
        expectNoDifference(time.timers.count, 1)
        second.cancel()
        expectNoDifference(time.timers.count, 0)
    }

    @Test func anAnswerThatIsThereAtOnceLeavesNoAlarm() {
        let answer = memory.answer(to: .layoutNames, for: asker, by: time.deadline + .seconds(2)) {
            Just(FileAnswer.names([])).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
        }
        let recorder = answer.setFailureType(to: FMRest.APIError.self).record { $0 == nil ? "nothing" : "answer" }
        expectNoDifference(recorder.history, ["answer", "finished"])
        expectNoDifference(time.timers.count, 0)
    }
}
