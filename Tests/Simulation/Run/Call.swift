import FMData
import OpenCombine

/// The subscriber of one step: it requests and cancels as the step says, and records what it receives.
final class Call: Subscriber {
    typealias Input = Seen
    typealias Failure = FMRest.APIError

    enum End {
        case finished
        case failed(FMRest.APIError)
        case cancelled
    }

    let step: Step
    private unowned let simulation: Simulation
    private var subscription: (any Subscription)?
    private var demanded = 0
    private(set) var values: [Seen] = []
    private(set) var end: End?
    private let expiriesBefore: Int
    /// Whether the host ended all sessions while the call was under way.
    private(set) var hasSeenExpiry = false
    /// The account with which the call was made, in programs of several accounts.
    private(set) var account: String?
    /// The process that has made the call, in a fleet.
    let process: FleetProcess?
    /// Whether that process was killed: it never hears of an end.
    private var isDead = false
    /// The steps that begin when this call receives something.
    private var inner: [Step]

    init(_ step: Step, inner: [Step], in simulation: Simulation) {
        self.step = step
        self.inner = inner
        self.simulation = simulation
        process = simulation.process(of: step)
        expiriesBefore = simulation.host(of: step).expiries
    }

    func receive(subscription: any Subscription) {
        guard !isDead else { return subscription.cancel() }
        self.subscription = subscription
        if step.cancel == .beforeDemand { return cancel() }
        if case .after(let milliseconds)? = step.cancel {
            simulation.onThread(of: step, in: milliseconds) { [weak self] in self?.cancel() }
        }
        switch step.demand {
        case .unlimited: ask(.unlimited)
        case .oneByOne, .slowly: ask(.max(1))
        case .late(let milliseconds):
            simulation.onThread(of: step, in: milliseconds) { [weak self] in self?.ask(.unlimited) }
        }
    }

    func receive(_ input: Seen) -> Subscribers.Demand {
        guard !isDead else { return .none }
        values.append(input)
        note("value \(values.count)")
        simulation.checkAccount(of: self, given: input)
        simulation.checkRow(of: self, given: input)
        if end != nil { complain("a value after the end") }
        if values.count > demanded { complain("a value that nobody asked for") }
        if case .atValue(let number)? = step.cancel, values.count >= number { cancel() }
        runInner()
        guard end == nil else { return .none }
        switch step.demand {
        case .unlimited, .late: return .none
        case .oneByOne:
            demanded += demanded < .max ? 1 : 0
            return .max(1)
        case .slowly(let milliseconds):
            simulation.onThread(of: step, in: milliseconds) { [weak self] in self?.ask(.max(1)) }
            return .none
        }
    }

    func receive(completion: Subscribers.Completion<FMRest.APIError>) {
        guard !isDead else { return }
        if let end { complain("an end after the end, which was \(end)") }
        switch completion {
        case .finished: end = .finished
        case .failure(let error): end = .failed(error)
        }
        hasSeenExpiry = simulation.host(of: step).expiries > expiriesBefore
        note("\(completion)")
        subscription = nil
        simulation.ended(self)
        runInner()
    }

    /// Requests everything else, also if the step's demand was limited.
    func askForTheRest() { ask(.unlimited) }

    func cancel() {
        guard end == nil, let subscription else { return }
        end = .cancelled
        note("cancelled")
        self.subscription = nil
        simulation.willCancel(self)
        subscription.cancel()
        simulation.ended(self)
        runInner()
    }

    /// The process was killed.
    func die() {
        isDead = true
        end = .cancelled
        note("its process is killed")
        simulation.ended(self)
    }

    private func ask(_ demand: Subscribers.Demand) {
        guard end == nil, let subscription, demanded < .max else { return }
        if demanded == 0 { account = simulation.account(of: step) }
        demanded = demand == .unlimited ? .max : demanded + 1
        subscription.request(demand)
    }

    private func runInner() {
        let inner = inner
        self.inner = []
        for step in inner { simulation.begin(step) }
    }

    private func note(_ text: @autoclosure () -> String) {
        simulation.trace.note { "call \(step.id) \(step.verb): \(text())" }
    }

    private func complain(_ text: String) { simulation.find("call \(step.id) \(step.verb): \(text)") }
}
