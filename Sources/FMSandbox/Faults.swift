extension Sandbox {
    /// Something that goes wrong on request.
    public enum Fault: Sendable, Equatable {
        /// The token is forgotten before the request is looked at: it answers 952.
        case expireToken
        /// The answer is held back, on the sandbox's clock.
        case delay(Duration)
        /// The connection is closed after this many bytes of the answer's body; its head promises the whole.
        case cut(afterBodyBytes: Int)
        /// The connection is closed without an answer; nothing was executed.
        case reset
        /// The request is executed, then the connection is closed without an answer.
        case resetAfterExecution
        /// What a web server writes while the engine behind it is down; nothing was executed.
        case html(status: Int)
        /// A 200 whose body is cut-off JSON; the request was executed.
        case brokenJSON
        /// An empty body with this status; nothing was executed.
        case empty(status: Int)
        /// A FileMaker error instead of the answer; nothing was executed.
        case error(FileMakerError)
        /// The refusal of one session too many, whatever the limit.
        case fullHost
        /// The engine restarts: all sessions are gone, and this request sees the web server's 502.
        case restart

        var runsRequest: Bool {
            switch self {
            case .expireToken, .delay, .cut, .resetAfterExecution, .brokenJSON: true
            case .reset, .html, .empty, .error, .fullHost, .restart: false
            }
        }
    }

    /// When a scripted fault strikes.
    public struct FaultRule: Sendable, Equatable {
        /// The fault.
        public var fault: Fault
        /// The endpoint it is meant for; every one if nil.
        public var endpoint: Endpoint?
        /// How many matching requests pass before it strikes. The default is none.
        public var skipping: Int
        /// How many times it strikes; once by default, always if nil.
        public var count: Int?

        /// A fault and when it strikes.
        public init(_ fault: Fault, on endpoint: Endpoint? = nil, skipping: Int = 0, count: Int? = 1) {
            self.fault = fault
            self.endpoint = endpoint
            self.skipping = skipping
            self.count = count
        }
    }
}

/// The faults that are still to come. The first rule that fits a request and is due strikes; the others wait their turn.
struct FaultScript: Sendable, Equatable {
    private(set) var rules: [Sandbox.FaultRule] = []

    mutating func add(_ rule: Sandbox.FaultRule) { rules.append(rule) }

    mutating func next(for endpoint: Sandbox.Endpoint) -> Sandbox.Fault? {
        for index in rules.indices where rules[index].endpoint == nil || rules[index].endpoint == endpoint {
            if rules[index].skipping > 0 {
                rules[index].skipping -= 1
                continue
            }
            let fault = rules[index].fault
            if let count = rules[index].count {
                rules[index].count = count - 1
                if count <= 1 { rules.remove(at: index) }
            }
            return fault
        }
        return nil
    }
}
