extension Sandbox {
    /// A failure that a test can order from the sandbox.
    public enum Fault: Sendable, Equatable {
        /// The session of the request's token is removed before the request is handled: the answer is 952.
        case expireToken
        /// The answer is delayed by this duration, on the sandbox's clock.
        case delay(Duration)
        /// The connection is closed after this many bytes of the answer's body; its head announces the whole body.
        case cut(afterBodyBytes: Int)
        /// The request is executed, and the connection is closed after this many bytes of its answer, counted from the
        /// first byte of the status line, so anywhere in head or body. The answer is not compressed; a chunked one is
        /// sent in two chunks. If the answer is shorter, it is sent whole before the connection is closed.
        case cutAnswer(afterBytes: Int, framing: AnswerFraming = .contentLength)
        /// The request is executed, and its answer is chunked. After a first chunk of this many bytes of the body (none
        /// by default) come a chunk with a wrong size, the rest of the body and the last chunk. Then the connection is
        /// closed.
        case badChunkSize(ChunkSizeMistake, afterBodyBytes: Int = 0)
        /// The answer is complete and announces that the connection stays open, but the connection is closed right
        /// after it.
        case closeAfterAnswer
        /// The request is executed, its session is free for the next request, and the answer is held until
        /// ``Sandbox/releaseAnswers(_:)``.
        case holdAnswer
        /// The request fails with 952, as if it had reached another host behind the same load balancer: it is not
        /// executed, and the session stays open.
        case refuseToken
        /// The login succeeds and counts as an open session, but every request with its token fails with 952, as behind
        /// a load balancer that sends each connection to another host. Only the logout is accepted.
        case refuseFreshToken
        /// The answer to the logout is OK, but the session stays open until it expires.
        case lostLogout
        /// The answer to the logout is OK, but the session stays open for this duration, on the sandbox's clock.
        case lateLogout(Duration)
        /// The connection is closed without an answer; nothing was executed.
        case reset
        /// The request is executed, then the connection is closed without an answer.
        case resetAfterExecution
        /// The page that a web server sends while the engine behind it is down; the request is not executed.
        case html(status: Int)
        /// The request is executed, and a gateway's error page replaces its answer.
        case htmlAfterExecution(status: Int)
        /// Status 200 with a body of truncated JSON; the request is executed.
        case brokenJSON
        /// An empty body with this status; the request is not executed.
        case empty(status: Int)
        /// A FileMaker error by its number, by its name or as a whole; the request is not executed.
        case error(FileMakerError)
        /// The error for a session beyond the maximum, whatever the maximum is.
        case fullHost
        /// The engine restarts: all sessions end, and this request gets the web server's 502.
        case restart
    }
}

extension Sandbox.Fault {
    /// A FileMaker error in place of the answer. The code is any type whose raw value is the error's number, such as
    /// FMData's `FileMakerErrorCode`. The request is not executed.
    public static func error(_ code: some RawRepresentable<Int>) -> Sandbox.Fault {
        .error(FileMakerError(code))
    }

    /// The effect of the fault and its place in the request's handling.
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

    /// Whether the fault can affect a request to this endpoint. A rule waits for one that it can affect.
    func strikes(_ endpoint: Sandbox.Endpoint) -> Bool {
        switch self {
        case .refuseFreshToken: endpoint == .login
        case .lostLogout, .lateLogout: endpoint == .logout
        case .refuseToken: endpoint.needsToken
        default: true
        }
    }

    /// The command-line notation of each fault, in the order in which texts list them.
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
