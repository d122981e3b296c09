extension Sandbox {
    /// Something that goes wrong on request.
    public enum Fault: Sendable, Equatable {
        /// The token is forgotten before the request is looked at: it answers 952.
        case expireToken
        /// The answer is held back, on the sandbox's clock.
        case delay(Duration)
        /// The connection is closed after this many bytes of the answer's body; its head promises the whole.
        case cut(afterBodyBytes: Int)
        /// The request is executed, and the connection is closed after this many bytes of its answer, counted from the first
        /// one of the status line: anywhere in head or body. The answer is not compressed; a chunked one is sent in two chunks.
        /// Past its end the answer is whole, and the connection is closed behind it.
        case cutAnswer(afterBytes: Int, framing: AnswerFraming = .contentLength)
        /// The request is executed, and its answer is chunked: after a first chunk of so many bytes of the body (none by
        /// default) comes one with a wrong size, the rest of the body and the last chunk. Then the connection is closed.
        case badChunkSize(ChunkSizeMistake, afterBodyBytes: Int = 0)
        /// The answer is whole and says that the connection stays open, which is closed right behind it nevertheless.
        case closeAfterAnswer
        /// The request is executed, its session is free for the next one, and the answer is held until
        /// ``Sandbox/releaseAnswers(_:)``.
        case holdAnswer
        /// The request is refused with 952 as by another host behind the same load balancer: nothing was executed, and the
        /// session stays open.
        case refuseToken
        /// The login succeeds and takes a place among the sessions, but every request with its token is refused with 952, as
        /// behind a load balancer that sends each connection to another host. Only its logout is taken.
        case refuseFreshToken
        /// The logout answers OK, and the session stays open until it expires.
        case lostLogout
        /// The logout answers OK, and the session goes on for so long, on the sandbox's clock.
        case lateLogout(Duration)
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
            case .expireToken, .refuseToken, .refuseFreshToken, .lostLogout, .lateLogout, .delay, .cut, .cutAnswer,
                .badChunkSize, .closeAfterAnswer, .holdAnswer, .resetAfterExecution, .brokenJSON:
                true
            case .reset, .html, .empty, .error, .fullHost, .restart: false
            }
        }

        /// Whether it can happen to a request: a rule waits for one to which it can.
        func strikes(_ endpoint: Endpoint) -> Bool {
            switch self {
            case .refuseFreshToken: endpoint == .login
            case .lostLogout, .lateLogout: endpoint == .logout
            case .refuseToken: endpoint.needsToken
            default: true
            }
        }
    }

    /// How an answer says where its body ends.
    public enum AnswerFraming: String, Sendable, CaseIterable {
        /// With `Content-Length`.
        case contentLength
        /// With `Transfer-Encoding: chunked`, in two chunks.
        case chunked
    }

    /// What is wrong with the size of a chunk.
    public enum ChunkSizeMistake: String, Sendable, CaseIterable {
        /// There is none.
        case missing
        /// It is no hexadecimal number.
        case notHexadecimal
        /// It has a minus sign.
        case negative
        /// It needs more than 64 bits.
        case overflow
        /// It is one byte less than what comes.
        case tooSmall
        /// It promises more than what comes before the connection is closed.
        case tooLarge
    }

    /// When a scripted fault strikes.
    public struct FaultRule: Sendable, Equatable {
        /// The fault.
        public var fault: Fault
        /// The endpoint it is meant for; every one that it can happen to if nil.
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
        for index in rules.indices where rules[index].fits(endpoint) {
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

extension Sandbox.FaultRule {
    fileprivate func fits(_ endpoint: Sandbox.Endpoint) -> Bool {
        (self.endpoint == nil || self.endpoint == endpoint) && fault.strikes(endpoint)
    }
}
