public import FMData
import Foundation
import NIOCore
public import OpenCombine

/// A transport that answers from memory: no host, no port, no wait.
///
/// ```swift
/// let transport = TestTransport()
/// transport.alwaysAnswer(.getRecords, on: "Contacts", with: .records([Person(name: "Ada"), Person(name: "Grace")]))
/// let contacts = transport.database().layout(Person.self)
///
/// print(try await contacts.all().map(\.name).collect().firstValue())         // ["Ada", "Grace"]
/// print(transport.requests.map(\.operation))                                 // [logIn, getRecords]
/// ```
///
/// Everything above the network is the client's own: sessions, retries, decoding, live queries. Answers are given by
/// operation, and by layout where one is named: first those of ``answer(_:on:with:)``, each once and in order, then the
/// one of ``alwaysAnswer(_:on:with:)``. Of several that fit, one that names the layout comes before one that does not.
/// Logins and logouts are answered without being told to. A request that no answer is for fails with
/// `FMRest.APIError.Code.invalidRequest`, and its reason names the nearest answer.
///
/// Answers arrive as `DataAPI.Config.delivery` says: in the background, as those of a host do, or with `.eventLoop` on
/// the thread that asks, before its call returns. A transport may serve several servers. Set as
/// `DataAPI.Config.transport` it answers as well; then the server's time is the machine's, and only delays and time
/// limits of answers are that of the ``clock``.
public final class TestTransport: DataAPI.Transport {
    private struct State: Sendable {
        var answers: [CannedAnswer] = []
        var requests: [TestRequest] = []
        var unanswered: [TestRequest] = []
        var loginCount = 0
    }

    /// The clock of the servers that are made with this transport.
    public let clock: TestClock
    private let state = AwaitedState(State())

    /// Creates a transport without answers.
    public init(clock: TestClock = TestClock()) { self.clock = clock }

    // MARK: Answers

    /// Answers the next requests for an operation, one after the other.
    ///
    /// - Parameters:
    ///   - operation: what the requests ask for.
    ///   - layout: the layout that they are for; `nil` for any.
    ///   - answers: each is given once.
    public func answer(_ operation: DataAPI.Operation, on layout: String? = nil, with answers: TestAnswer...) {
        state.change { state in
            state.answers += answers.map {
                CannedAnswer(operation: operation, layout: layout, isForEver: false, answer: $0)
            }
        }
    }

    /// Answers all requests for an operation that no answer of ``answer(_:on:with:)`` is left for. The last one given
    /// for an operation and a layout replaces those before.
    ///
    /// - Parameters:
    ///   - operation: what the requests ask for.
    ///   - layout: the layout that they are for; `nil` for any.
    ///   - answer: is given again and again.
    public func alwaysAnswer(_ operation: DataAPI.Operation, on layout: String? = nil, with answer: TestAnswer) {
        state.change { state in
            state.answers.removeAll { $0.isForEver && $0.operation == operation && $0.layout == layout }
            state.answers.append(CannedAnswer(operation: operation, layout: layout, isForEver: true, answer: answer))
        }
    }

    /// How many answers of ``answer(_:on:with:)`` have not been asked for.
    public var unusedAnswerCount: Int { state.value.answers.count { !$0.isForEver && !$0.isUsed } }

    // MARK: Requests

    /// What was asked, in order.
    public var requests: [TestRequest] { state.value.requests }

    /// The requests that no answer was for.
    public var unanswered: [TestRequest] { state.value.unanswered }

    /// Returns when the requests fulfil the condition, or when the task is cancelled: for a program that asks by
    /// itself, some time after it was told to.
    ///
    ///     await transport.untilRequests { $0.contains { $0.operation == .editRecord } }
    ///
    /// - Parameter condition: is given ``requests``. It must not use the transport, which is locked meanwhile.
    public func untilRequests(_ condition: @escaping @Sendable (_ requests: [TestRequest]) -> Bool) async {
        await state.wait { condition($0.requests) }
    }

    // MARK: The transport

    /// Publishes the answer that is there for a request.
    public func parts(
        of request: DataAPI.TransportRequest
    ) -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> {
        parts(of: request, config: DataAPI.Config())
    }

    /// - Parameter config: the configuration of the server that sends the request.
    func parts(
        of request: DataAPI.TransportRequest,
        config: DataAPI.Config
    ) -> AnyPublisher<DataAPI.ResponsePart, DataAPI.TransportError> {
        PreparedParts(inBackground: config.delivery == .background) { done in
            let work = PendingWork()
            // A body in memory comes at once, a file's when it has been read.
            let body = request.body.reduce(Data()) { $0 + $1 }.sink { completion in
                if case .failure(let error) = completion {
                    done(.failure(.init(code: .bodyFailed, outcome: .notSent, underlying: "\(type(of: error))")))
                }
            } receiveValue: { body in
                self.answer(TestRequest(request.outgoing, body: body), request.timeouts, config, work, done)
            }
            work.add(body)
            return { work.cancel() }
        }
        .eraseToAnyPublisher()
    }

    /// Gives the answer that is for a request, at once or when its time has come.
    private func answer(
        _ request: TestRequest,
        _ timeouts: DataAPI.Timeouts?,
        _ config: DataAPI.Config,
        _ work: PendingWork,
        _ done: @escaping @Sendable (TestAnswer.Outcome) -> Void
    ) {
        let (outcome, delay) = outcome(of: request, config)
        if let outcome, delay == .zero { return done(outcome) }
        let timeouts = timeouts ?? config.timeouts
        let limits: [(Duration?, DataAPI.TransportError.Code)] = [
            (timeouts.firstByte, .firstByteTimeout), (timeouts.total, .totalTimeout),
        ]
        let limit = limits.compactMap { time, code in time.map { (time: $0, code: code) } }.min { $0.time < $1.time }
        if let outcome, limit.map({ delay < $0.time }) ?? true {
            work.add(clock.afterwards(delay) { done(outcome) })
        } else if let limit {
            let error = DataAPI.TransportError(code: limit.code, outcome: .unknown)
            work.add(clock.afterwards(limit.time) { done(.failure(error)) })
        }
    }

    private func outcome(of request: TestRequest, _ config: DataAPI.Config) -> (TestAnswer.Outcome?, Duration) {
        let (answer, loginCount) = take(request)
        do {
            var encoder = FMEncoder(options: config.encoding)
            // A host knows no field without a value.
            encoder.options.nilValues = .empty
            let context = TestAnswer.Context(request: request, encoder: encoder, loginCount: loginCount)
            return try answer.get().outcome(in: context)
        } catch {
            return (.failure(error), .zero)
        }
    }

    /// Notes a request, and takes the answer that is for it.
    private func take(_ request: TestRequest) -> (Result<TestAnswer, DataAPI.TransportError>, loginCount: Int) {
        state.change { state in
            state.requests.append(request)
            if request.operation == .logIn { state.loginCount += 1 }
            if let answer = state.answers.take(for: request) { return (.success(answer), state.loginCount) }
            switch request.operation {
            case .logIn: return (.success(.session), state.loginCount)
            case .logOut: return (.success(.done), state.loginCount)
            default: break
            }
            state.unanswered.append(request)
            let reason = state.answers.reasonForNone(for: request)
            let error = DataAPI.TransportError(code: .invalidRequest, outcome: .notSent, underlying: reason)
            return (.failure(error), state.loginCount)
        }
    }
}

extension TestClock {
    fileprivate func afterwards(_ duration: Duration, _ work: @escaping @Sendable () -> Void) -> AnyCancellable {
        AnyCancellable(schedule(at: state.value.now + duration, work))
    }
}

/// What is under way for one request.
private final class PendingWork: Sendable {
    /// `nil` when it was cancelled.
    private let state = Guarded<[AnyCancellable]?>([])

    /// Adds work. If the end has come, it is cancelled at once.
    func add(_ work: AnyCancellable) {
        let isOver = state.withLock { state in
            state?.append(work)
            return state == nil
        }
        if isOver { work.cancel() }
    }

    func cancel() {
        let work = state.withLock { state in
            defer { state = nil }
            return state
        }
        for work in work ?? [] { work.cancel() }
    }
}
