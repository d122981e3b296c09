import FMHTTP

extension FMRest.APIError {
    /// Describes a timeout of the HTTP client in the terms of ``DataAPI/Timeouts``: what the call was waiting for,
    /// which limit passed, and where it is set. Other errors stay as they are.
    func naming(_ timeouts: HTTPTimeouts) -> Self {
        guard code == .timeout, let cause = transportError else { return self }
        var error = self
        switch cause.code {
        case .queueTimeout:
            error.name(cause, "a connection, while all were busy", "queue", timeouts.queue?.description)
            error.advise("More connections (Config.maximumConnections) may help.")
        case .connectTimeout:
            error.name(cause, "a connection", "connect", timeouts.connect?.description)
            error.advise("Firewalls that drop what they forbid look like this.")
        case .firstByteTimeout:
            error.name(cause, "the answer", "firstByte", timeouts.firstByte?.description)
            error.advise("Scripts and finds in unindexed fields take their time.")
        case .idleTimeout:
            error.name(cause, cause.outcome.nextStep, "idle", timeouts.idle?.description)
        case .tooSlow:
            error.name(
                cause,
                cause.outcome.nextStep,
                "minimumRate",
                timeouts.minimumRate.map { "\($0) bytes per second" }
            )
            error.hint =
                "Config.timeouts.minimumRate is for all calls, .timeouts { $0.minimumRate = … } for one; nil is no limit."
        case .totalTimeout:
            error.name(cause, cause.outcome.nextStep, "total", timeouts.total?.description)
        default:
            break
        }
        return error
    }

    private mutating func name(_ cause: HTTPClientError, _ awaited: String, _ setting: String, _ limit: String?) {
        let span = limit.map { ", \($0)" } ?? ""
        reason = "\(cause). The call waited for \(awaited); the limit was timeouts.\(setting)\(span)."
        hint =
            "Config.timeouts.\(setting) says how long all calls wait, .timeouts { $0.\(setting) = … } how long one does."
    }

    private mutating func advise(_ advice: String) {
        hint = advice + (hint.map { " " + $0 } ?? "")
    }
}

extension HTTPClientError.Outcome {
    /// What the request waits for next, by what is known of its outcome.
    fileprivate var nextStep: String {
        switch self {
        case .notSent: "a connection"
        case .unknown: "the answer"
        case .answered: "the rest of the answer"
        }
    }
}
