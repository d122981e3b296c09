import FMSandbox

/// What goes wrong.
enum PlannedFault: Equatable {
    /// With the connection of that number, counted from 1 as the client opens them.
    case connection(Int, ConnectionFault)
    /// With a host, so many milliseconds after the beginning.
    case moment(milliseconds: Int, host: Int, HostEvent)
    /// With a request, inside the host.
    case request(host: Int, Sandbox.FaultRule)
}

enum ConnectionFault: Equatable {
    case lookUpFails, refused, lostSYN
    case slow(milliseconds: Int)
    /// On the way to the host.
    case up(afterBytes: Int, Wire.Break)
    /// On the way to the client.
    case down(afterBytes: Int, Wire.Break)
}

enum HostEvent: Equatable {
    /// All sessions and connections are gone, and new connections are refused for a while.
    case restart(downForMilliseconds: Int)
    case expireSessions
    /// The clock on the host's wall is set.
    case jump(seconds: Int)
    case dropConnections
    case releaseAnswers
    /// The file is backed up.
    case backUp
    /// The file is closed, and the last backup is there instead of it; without one, the file as it was in the beginning.
    case restore
}

extension [PlannedFault] {
    /// Whether a host may say of a session that it has ended, or is not known, and it goes on.
    var includeLies: Bool {
        contains { fault in
            guard case .request(_, let rule) = fault else { return false }
            switch rule.fault {
            case .lostLogout, .lateLogout, .refuseToken, .error(FileMakerError(952)), .html(401), .empty(401):
                return true
            default: return false
            }
        }
    }
}
