/// What is done in one simulated world, and what goes wrong there: a value that follows from a seed, and that a shrinker can cut.
struct Program: Equatable {
    var seed: UInt64
    var work: Work
    var client: ClientPlan
    var hosts: [HostPlan]
    var weather: Network.Weather
    var steps: [Step]
    var faults: [PlannedFault]
    /// What is written with journals.
    var jobs: [JobPlan] = []
    /// What others do to the records of jobs.
    var strangers: [StrangersDeed] = []
    /// What is kept by following changes.
    var copies: [CopyPlan] = []
    var ending: Ending
    /// Whether nothing goes wrong in it and nobody is slow: then every call has to succeed, and no session is left.
    var isCalm = false

    /// What becomes of the client when all calls have been made.
    enum Ending: Equatable {
        /// `shutdown()`, when nothing is under way any more.
        case shutdown
        /// `shutdown()` so many milliseconds after the first call.
        case earlyShutdown(milliseconds: Int)
        /// The last references go.
        case release
    }
}

/// How the client is set up.
struct ClientPlan: Equatable {
    var maximumSessions: Int
    var maximumConnections: Int
    /// In seconds, as the next three.
    var firstByte: Int
    var total: Int?
    var waitingDeadline: Int
    var idleTrim: Int
    var explainsErrors: Bool
    var loops: Int
    /// Whether it has a logger, which hears of everything.
    var logs: Bool
}

/// How a host is set up.
struct HostPlan: Equatable {
    var maximumSessions: Int
    /// In milliseconds.
    var keepAlive: Int
    var requestsPerConnection: Int?
    /// In milliseconds.
    var latency: Int?
    var compresses: Bool
    /// In seconds.
    var sessionLifetime: Int
    /// What the steps do, and so what they need.
    var work: Work
    /// Records that the steps may use.
    var records: Int
}

/// One call, or a chain of calls.
struct Step: Equatable {
    /// By which its values are known everywhere.
    let id: Int
    /// Milliseconds after the beginning.
    var time: Int
    var host: Int
    var verb: Verb
    var demand: Demand
    var cancel: Cancel?
    /// Whether it is made by whoever receives what an earlier step publishes, on that thread.
    var inside: Int?
    /// Whose object it uses; `nil` is the one that everybody uses, whoever logs in there.
    var account: String?
    /// Of a run of a job, or of one that follows a copy.
    var run: RunPlan?

    enum Demand: Equatable {
        case unlimited
        /// One more with each value.
        case oneByOne
        /// One at a time, so many milliseconds after the one before.
        case slowly(milliseconds: Int)
        /// Nothing for so long, and then everything.
        case late(milliseconds: Int)
    }

    enum Cancel: Equatable {
        /// Before anything was asked for.
        case beforeDemand
        case after(milliseconds: Int)
        case atValue(Int)
        /// While something is being noted in the journal, for the so many eth time of this run, or some time later.
        case atNote(Int, later: Int)
    }
}

extension Program: CustomStringConvertible {
    var description: String {
        let lines =
            [
                "program of seed \(seed), \(work), ending \(ending)\(isCalm ? ", calm" : "")", "  \(client)",
                "  \(weather)",
            ]
            + hosts.map { "  \($0)" }
            + jobs.map { "  \($0)" } + copies.map { "  \($0)" } + strangers.map { "  \($0)" }
            + steps.map { "  \($0)" } + faults.map { "  \($0)" }
        return lines.joined(separator: "\n").replacing("SimulationTests.", with: "").replacing("simulate.", with: "")
    }
}
