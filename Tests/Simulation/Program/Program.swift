import FMSandbox
import Foundation

/// What is done in one simulated world, and what goes wrong there: a value that follows from a seed, and that a shrinker can cut.
struct Program: Hashable {
    var seed: UInt64
    var client: ClientPlan
    var hosts: [HostPlan]
    var weather: Network.Weather
    var steps: [Step]
    var faults: [PlannedFault]
    var ending: Ending
    /// Whether nothing goes wrong in it and nobody is slow: then every call has to succeed, and no session is left.
    var isCalm = false

    /// What becomes of the client when all calls have been made.
    enum Ending: Hashable {
        /// `shutdown()`, when nothing is under way any more.
        case shutdown
        /// `shutdown()` so many milliseconds after the first call.
        case earlyShutdown(milliseconds: Int)
        /// The last references go.
        case release
    }
}

/// How the client is set up.
struct ClientPlan: Hashable {
    var maximumSessions: Int
    var maximumConnections: Int
    /// In seconds, as the next three.
    var firstByte: Int
    var total: Int?
    var waitingDeadline: Int
    var idleTrim: Int
    var asksWhichFieldFailed: Bool
    var loops: Int
    /// Whether it has a logger, which hears of everything.
    var logs: Bool
}

/// How a host is set up.
struct HostPlan: Hashable {
    var maximumSessions: Int
    /// In milliseconds.
    var keepAlive: Int
    var requestsPerConnection: Int?
    /// In milliseconds.
    var latency: Int?
    var compresses: Bool
    /// In seconds.
    var sessionLifetime: Int
    /// Records that the steps may use.
    var records: Int
}

/// One call, or a chain of calls.
struct Step: Hashable {
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

    enum Demand: Hashable {
        case unlimited
        /// One more with each value.
        case oneByOne
        /// One at a time, so many milliseconds after the one before.
        case slowly(milliseconds: Int)
        /// Nothing for so long, and then everything.
        case late(milliseconds: Int)
    }

    enum Cancel: Hashable {
        /// Before anything was asked for.
        case beforeDemand
        case after(milliseconds: Int)
        case atValue(Int)
    }
}

/// What can be asked for.
enum Verb: Hashable, CaseIterable {
    case create, edit, editChecked, duplicate, delete, upload, logScript
    case echoScript, read, readMissing, list, stream, find, findNothing, findStream
    case download, downloadStream
    case metadata, layouts, scripts, productInfo, databases, validate
    case setGlobals, pinned, logOut, logIn, asOther

    /// What it changes on the host when it is carried out once; `nil` for what changes nothing that lasts.
    var write: Write? {
        switch self {
        case .create: .newRecord(from: "c")
        case .logScript: .newRecord(from: "s")
        case .duplicate: .copy
        case .edit, .editChecked, .upload: .newVersion
        case .delete: .removal
        default: nil
        }
    }

    enum Write: Hashable {
        /// A record whose marker is this letter and the step's number.
        case newRecord(from: String)
        /// A second record with the marker of the step's own.
        case copy
        /// The step's record has one more modification.
        case newVersion
        /// The step's record is gone.
        case removal
    }
}

/// What goes wrong.
enum PlannedFault: Hashable {
    /// With the connection of that number, counted from 1 as the client opens them.
    case connection(Int, ConnectionFault)
    /// With a host, so many milliseconds after the beginning.
    case moment(milliseconds: Int, host: Int, HostEvent)
    /// With a request, inside the host.
    case request(host: Int, RequestFault)
}

enum ConnectionFault: Hashable {
    case lookUpFails, refused, lostSYN
    case slow(milliseconds: Int)
    /// On the way to the host.
    case up(afterBytes: Int, Wire.Break)
    /// On the way to the client.
    case down(afterBytes: Int, Wire.Break)
}

enum HostEvent: Hashable {
    /// All sessions and connections are gone, and new connections are refused for a while.
    case restart(downForMilliseconds: Int)
    case expireSessions
    /// The clock on the host's wall is set.
    case jump(seconds: Int)
    case dropConnections
    case releaseAnswers
}

/// A fault of the sandbox.
struct RequestFault: Hashable {
    var rule: Sandbox.FaultRule

    static func == (left: Self, right: Self) -> Bool { left.rule == right.rule }
    func hash(into hasher: inout Hasher) { hasher.combine("\(rule)") }
}

extension Program: CustomStringConvertible {
    var description: String {
        let lines =
            ["program of seed \(seed), ending \(ending)\(isCalm ? ", calm" : "")", "  \(client)", "  \(weather)"]
            + hosts.map { "  \($0)" }
            + steps.map { "  \($0)" } + faults.map { "  \($0)" }
        return lines.joined(separator: "\n").replacing("SimulationTests.", with: "").replacing("simulate.", with: "")
    }
}
