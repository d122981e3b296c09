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
        /// The request is executed, and instead of its answer comes the page of a gateway that has lost it.
        case htmlAfterExecution(status: Int)
        /// A 200 whose body is cut-off JSON; the request was executed.
        case brokenJSON
        /// An empty body with this status; nothing was executed.
        case empty(status: Int)
        /// A FileMaker error instead of the answer, by its number, its name or as a whole; nothing was executed.
        case error(FileMakerError)
        /// The refusal of one session too many, whatever the limit.
        case fullHost
        /// The engine restarts: all sessions are gone, and this request sees the web server's 502.
        case restart
    }
}

extension Sandbox.Fault {
    /// A FileMaker error instead of the answer, by what a client calls its number: any type whose raw value is the code, such as
    /// FMData's `FileMakerErrorCode`. Nothing was executed.
    public static func error(_ code: some RawRepresentable<Int>) -> Sandbox.Fault {
        .error(FileMakerError(code))
    }

    /// What it does, and when.
    var effect: FaultEffect {
        switch self {
        case .expireToken: .before { $0.forgetSession() }
        case .delay(let duration): .before { try await $0.engine.clock.wait(for: duration) }

        case .refuseToken: .instead { _ in throw FileMakerError(952) }
        case .lostLogout: .instead { try $0.logOut(after: nil) }
        case .lateLogout(let duration): .instead { try $0.logOut(after: duration) }
        case .reset: .instead { _ in .nothing }
        case .html(let status): .instead { _ in .page(status: status) }
        case .empty(let status): .instead { _ in .empty(status: status) }
        case .error(let error): .instead { _ in throw error }
        case .fullHost: .instead { throw FileMakerError($0.engine.configuration.sessionLimitCode) }
        case .restart: .instead { $0.restart() }

        case .refuseFreshToken: .after { $1.refuseToken(of: $0) }
        case .holdAnswer: .after { try await $1.engine.heldAnswers.hold() }
        case .brokenJSON: .after { answer, _ in answer.body = Array(answer.body.prefix(max(1, answer.body.count / 2))) }
        case .htmlAfterExecution(let status): .after { answer, _ in answer = .page(status: status) }
        case .closeAfterAnswer: .after { answer, _ in answer.delivery = .thenClose }
        case .cut(let count): .after { answer, _ in answer.delivery = .cut(afterBodyBytes: max(0, count)) }
        case .cutAnswer(let count, let framing): .sending { $0.bytes(framing).prefix(max(0, count)) }
        case .badChunkSize(let mistake, let count): .sending { $0.bytes(mistake, afterBodyBytes: max(0, count))[...] }
        case .resetAfterExecution: .sending { _ in [] }
        }
    }

    /// Whether it can happen to a request: a rule waits for one to which it can.
    func strikes(_ endpoint: Sandbox.Endpoint) -> Bool {
        switch self {
        case .refuseFreshToken: endpoint == .login
        case .lostLogout, .lateLogout: endpoint == .logout
        case .refuseToken: endpoint.needsToken
        default: true
        }
    }

    /// How each fault is written on a command line, in the order in which texts list them.
    package static let notations: [Notation] = [
        Notation("expireToken", .nothing(.expireToken)),
        Notation("refuseToken", .nothing(.refuseToken)),
        Notation("refuseFreshToken", .nothing(.refuseFreshToken)),
        Notation("lostLogout", .nothing(.lostLogout)),
        Notation("lateLogout", .milliseconds { .lateLogout($0) }),
        Notation("delay", .milliseconds { .delay($0) }),
        Notation("holdAnswer", .nothing(.holdAnswer)),
        Notation("cut", .bytes { .cut(afterBodyBytes: $0) }),
        Notation("cutAnswer", .bytes { .cutAnswer(afterBytes: $0) }),
        Notation("cutChunked", .bytes { .cutAnswer(afterBytes: $0, framing: .chunked) }),
        Notation("badChunkSize", .bytesAndMistake { .badChunkSize($1, afterBodyBytes: $0) }),
        Notation("closeAfterAnswer", .nothing(.closeAfterAnswer)),
        Notation("reset", .nothing(.reset)),
        Notation("resetAfterExecution", .nothing(.resetAfterExecution)),
        Notation("html", .status(standard: 502) { .html(status: $0) }),
        Notation("htmlAfterExecution", .status(standard: 504) { .htmlAfterExecution(status: $0) }),
        Notation("empty", .status(standard: 503) { .empty(status: $0) }),
        Notation("brokenJSON", .nothing(.brokenJSON)),
        Notation("error", .errorCode { .error(FileMakerError($0)) }),
        Notation("fullHost", .nothing(.fullHost)),
        Notation("restart", .nothing(.restart)),
    ]
}
