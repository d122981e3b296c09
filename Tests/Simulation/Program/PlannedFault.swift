import FMSandbox

/// A planned fault.
enum PlannedFault: Equatable {
    /// Of a connection, by its number, counted from 1 as the client opens them.
    case connection(Int, ConnectionFault)
    /// Of a host, this number of milliseconds after the beginning.
    case moment(milliseconds: Int, host: Int, HostEvent)
    /// Of a request, inside the host.
    case request(host: Int, Sandbox.FaultRule)
    /// Of a process of a fleet, this number of milliseconds after the beginning.
    case member(milliseconds: Int, Int, MemberEvent)
    /// Of the store of a fleet, this number of milliseconds after the beginning.
    case store(milliseconds: Int, StoreEvent)
    /// Of a connection to the store, by its number.
    case storeConnection(Int, ConnectionFault)
}

enum ConnectionFault: Equatable {
    case lookUpFails, refused, lostSYN
    case slow(milliseconds: Int)
    /// In the direction to the host.
    case up(afterBytes: Int, Wire.Break)
    /// In the direction to the client.
    case down(afterBytes: Int, Wire.Break)
}

enum HostEvent: Equatable {
    /// All sessions and connections end, and new connections are refused for a while.
    case restart(downForMilliseconds: Int)
    case expireSessions
    /// The host's wall clock is set to another time.
    case jump(seconds: Int)
    case dropConnections
    case releaseAnswers
    /// The file is backed up.
    case backUp
    /// The file is closed, and replaced by the last backup; without one, by the file as it was in the beginning.
    case restore
}

extension [PlannedFault] {
    /// Whether a host may report that a session has ended, or is unknown, although it continues.
    var includeLies: Bool {
        contains { fault in
            guard case .request(_, let rule) = fault else { return false }
            let lies: [Sandbox.Fault] = [
                .lostLogout, .refuseToken, .error(FileMakerError(952)), .html(status: 401), .empty(status: 401),
            ]
            return rule.fault.name == "lateLogout" || lies.contains(rule.fault)
        }
    }
}
