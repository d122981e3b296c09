/// The calls of one simulated world, and its faults: a value that follows from a seed, and that a shrinker can reduce.
struct Program: Equatable {
    var seed: UInt64
    var work: Work
    var client: ClientPlan
    var hosts: [HostPlan]
    var weather: Network.Weather
    var steps: [Step]
    var faults: [PlannedFault]
    /// The jobs, written with journals.
    var jobs: [JobPlan] = []
    /// The changes that others make to the records of jobs.
    var strangers: [ForeignChange] = []
    /// The copies, kept by following changes.
    var copies: [CopyPlan] = []
    /// The processes that share sessions; `nil` for a single process.
    var fleet: FleetPlan?
    var ending: Ending
    /// Whether the program has no faults and no delays: then every call must succeed, and no session may be left.
    var isCalm = false

    /// How the client ends after all calls.
    enum Ending: Equatable {
        /// `shutdown()`, when no call is running any more.
        case shutdown
        /// `shutdown()`, this number of milliseconds after the first call.
        case earlyShutdown(milliseconds: Int)
        /// The last references are released.
        case release
    }
}

/// The configuration of the client.
struct ClientPlan: Equatable {
    var maximumSessions: Int
    var maximumConnections: Int
    /// In seconds, like the next three.
    var firstByte: Int
    var total: Int?
    var waitingDeadline: Int
    var idleTrim: Int
    var explainsErrors: Bool
    var loops: Int
    /// Whether it has a logger, at the lowest level.
    var logs: Bool
}

/// The configuration of a host.
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
    /// The kind of program, which determines the solution.
    var work: Work
    /// The number of records for the steps.
    var records: Int
}

/// One call, or a chain of calls.
struct Step: Equatable {
    /// Identifies its values everywhere.
    let id: Int
    /// Milliseconds after the beginning.
    var time: Int
    var host: Int
    var verb: Verb
    var demand: Demand
    var cancel: Cancel?
    /// The number of an earlier step: this step begins when that one receives something, on the same thread.
    var inside: Int?
    /// The account whose object it uses; `nil` for the object that all steps share, whichever account it has.
    var account: String?
    /// The run, if it is one of a job or of a copy.
    var run: RunPlan?
    /// The process that makes the call, in a fleet.
    var member: Int?

    enum Demand: Equatable {
        case unlimited
        /// One more with each value.
        case oneByOne
        /// One value at a time, each this number of milliseconds after the last.
        case slowly(milliseconds: Int)
        /// No demand for this time, and then unlimited.
        case late(milliseconds: Int)
    }

    enum Cancel: Equatable {
        /// Before any demand.
        case beforeDemand
        case after(milliseconds: Int)
        case atValue(Int)
        /// While the journal is being written, at this write of the run, or some time later.
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
            + (fleet.map { ["  \($0)"] } ?? [])
            + jobs.map { "  \($0)" } + copies.map { "  \($0)" } + strangers.map { "  \($0)" }
            + steps.map { "  \($0)" } + faults.map { "  \($0)" }
        return lines.joined(separator: "\n").replacing("SimulationTests.", with: "").replacing("simulate.", with: "")
    }
}
