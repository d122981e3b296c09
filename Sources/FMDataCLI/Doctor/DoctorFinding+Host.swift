import FMData
import Foundation

// What is said of a host that answers: its web server, its Data API, its clock, its speed.

/// The answer to the first request, which needs no account.
struct DoctorGreeting: Sendable {
    var result: Result<DataAPI.Server.ProductInfo, FMRest.APIError>
    /// `nil` if there was no answer.
    var head: AnswerHead?
    var isPlain: Bool
    /// The time on this machine in the middle of the request.
    var date: Date
}

extension DoctorFinding {
    // MARK: HTTP

    static func http(_ greeting: DoctorGreeting) -> DoctorFinding {
        let httpsAdvice = "Write https:// in --host, or leave the scheme out."
        switch (greeting.head, greeting.result) {
        case (nil, .success): return .ok("an answer")
        case (nil, .failure(let error)):
            let advice = error.transportError?.code == .tlsServer ? httpsAdvice : ErrorText.hint(for: error)
            return .failed(error.finding, [advice].compactMap(\.self), exit: .unreachable)
        // So do web servers answer a plain request on a port for HTTPS.
        case (let head?, .failure(let error))
        where greeting.isPlain && head.status == 400 && error.code == .notDataAPI:
            return .failed(error.finding, httpsAdvice, exit: .unreachable)
        case (let head?, _): return answer(head)
        }
    }

    private static func answer(_ head: AnswerHead) -> DoctorFinding {
        let server = head.headers["Server"].map { " from \($0)" } ?? ""
        let text = "HTTP \(head.status)\(server) in \(head.time.milliseconds) ms"
        let figures = ["milliseconds": head.time.milliseconds, "status": head.status]
        guard let via = head.headers["Via"] else { return .ok(text).with(figures) }
        return .warning(
            "\(text), by way of \(via)",
            "A proxy or gateway stands between this machine and the host. What follows may be its doing."
        )
        .with(figures)
    }

    // MARK: The Data API

    static func host(_ greeting: DoctorGreeting) -> DoctorFinding {
        switch greeting.result {
        case .success(let product):
            return .ok("\(product.name)\(product.version.map { " \($0)" } ?? ", which tells no version")")
        case .failure(let error):
            if let code = error.fileMakerCode { return host(error, code) }
            switch error.code {
            case .notDataAPI, .decoding: return noDataAPI(error, greeting.head)
            default: return .failed(error)
            }
        }
    }

    private static func host(_ error: FMRest.APIError, _ code: FileMakerErrorCode) -> DoctorFinding {
        if code == 959 { return .failed(error.finding, switchedOff) }
        if code.isRetryable { return .failed(error) }
        // FileMaker Server 17 does not know the call.
        return .warning(
            "a Data API answers, and does not tell what it is: \(error.finding)",
            "FileMaker Server 17 answers so; otherwise look at the answers to the other calls."
        )
    }

    private static let switchedOff = "Switch the FileMaker Data API on: Admin Console, Connectors, FileMaker Data API."

    /// The answer of something else than a Data API.
    private static func noDataAPI(_ error: FMRest.APIError, _ head: AnswerHead?) -> DoctorFinding {
        let text = error.finding
        switch error.httpStatus ?? 0 {
        case 502, 503, 504:
            return .failed(
                "the web server is up, and the engine of the Data API behind it is not: \(text)",
                "Is FileMaker Server starting, stopping or being updated? Try again in some minutes.",
                switchedOff,
                "Otherwise restart the engine on the host: fmsadmin restart wpe"
            )
        case 300..<400:
            let target = head?.headers["Location"].flatMap(URLComponents.init(string:))?.host
            return .failed(
                "the host sends its callers elsewhere: \(text)",
                "Name the host that it leads to" + (target.map { ": --host \($0)" } ?? ".")
            )
        case 401, 403, 407, 429, 511:
            return .failed(
                "something in front of the host turns calls away: \(text)",
                "A gateway, a firewall or the page of a guest network answers so. Calls to /fmi/data have to pass it."
            )
        default:
            guard error.reason.contains(/FileMaker|Claris/) else {
                return .failed(
                    "this is no FileMaker host, or one whose Data API is switched off: \(text)",
                    "Is --host the name of the FileMaker Server, and not that of a web site?",
                    switchedOff
                )
            }
            return .failed("a FileMaker host answers, and its Data API does not: \(text)", switchedOff)
        }
    }

    // MARK: The clock

    static func clock(_ greeting: DoctorGreeting) -> DoctorFinding {
        guard let text = greeting.head?.headers["Date"], let date = HTTPDate.date(text) else {
            return .ok("the host does not tell its time")
        }
        // The header has whole seconds.
        let seconds = Int(date.timeIntervalSince(greeting.date).rounded())
        let figures = ["seconds": seconds]
        guard abs(seconds) > 60 else { return .ok("it differs by \(abs(seconds)) s").with(figures) }
        let minutes = Duration.seconds((abs(seconds) + 30) / 60 * 60)
        let amount = minutes.formatted(.units(allowed: [.days, .hours, .minutes], width: .wide))
        return .warning(
            "the host's clock is \(amount) \(seconds > 0 ? "ahead of" : "behind") this machine's",
            "Set both by NTP. Sign-ins by OAuth and Claris ID, and finds by timestamp, go wrong otherwise."
        )
        .with(figures)
    }
}

/// The dates of HTTP ([RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7)).
enum HTTPDate {
    static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}

// MARK: Speed

/// How long some small answers took.
struct DoctorAnswerTimes: Sendable {
    var way: DataAPI.ConnectionReport
    var heads: [AnswerHead] = []
    /// The failure that ended the measurement.
    var failure: FMRest.APIError?
}

extension DoctorFinding {
    static func latency(_ times: DoctorAnswerTimes, _ limits: DoctorLimits) -> DoctorFinding {
        if let failure = times.failure, failure.fileMakerCode == nil { return .failed(failure) }
        let sorted = times.heads.map(\.time).sorted()
        guard let worst = sorted.last else { return .failed("no answer came", exit: .unreachable) }
        func within(_ share: Double) -> Duration {
            sorted[max(0, Int((Double(sorted.count) * share).rounded(.up)) - 1)]
        }
        let (p50, p95) = (within(0.5), within(0.95))
        let connecting = times.way.addresses.first { $0.failure == nil }?.time ?? .zero
        let handshake = times.way.tls.map { ", the handshake \($0.time.milliseconds) ms" } ?? ""
        let text = """
            \(sorted.count) answers, half within \(p50.milliseconds) ms, 95 % within \(p95.milliseconds) ms, the \
            slowest in \(worst.milliseconds) ms; connecting takes \(connecting.milliseconds) ms\(handshake)
            """
        let figures = [
            "count": sorted.count, "p50": p50.milliseconds, "p95": p95.milliseconds, "worst": worst.milliseconds,
            "connect": connecting.milliseconds,
        ]
        if p95 > limits.slow {
            return .warning(
                text,
                connecting * 2 > p95
                    ? "The network takes most of it: the host is far away, or the line is full."
                    : "The host takes most of it: look at its processor, at other programs that use the Data API, and "
                        + "at scripts and finds that run for long."
            )
            .with(figures)
        }
        if times.heads.count > 1, times.heads.allSatisfy(\.closesConnection) {
            return .warning(
                "\(text); each answer closes its connection",
                "The host, or a gateway in front of it, keeps no connection open, so each call pays for a new one. "
                    + "Switch keep-alive on there."
            )
            .with(figures)
        }
        return .ok(text).with(figures)
    }
}
