extension Sandbox {
    /// A failure that a test can order from the sandbox. More may be added in later versions.
    public struct Fault: Sendable, CustomStringConvertible {
        /// The name of the fault, without its parameters.
        public let name: String
        private let parameters: [any Hashable & Sendable]
        /// The effect of the fault and its place in the request's handling.
        let effect: FaultEffect
        /// Whether the fault can affect a request to this endpoint. A rule waits for one that it can affect.
        let strikes: @Sendable (Endpoint) -> Bool

        private init(
            _ name: String,
            _ parameters: (any Hashable & Sendable)...,
            strikes: @escaping @Sendable (Endpoint) -> Bool = { _ in true },
            effect: FaultEffect
        ) {
            self.name = name
            self.parameters = parameters
            self.strikes = strikes
            self.effect = effect
        }

        /// The name of the fault, with its parameters.
        public var description: String {
            parameters.isEmpty ? name : "\(name)(\(parameters.map { "\($0)" }.joined(separator: ", ")))"
        }
    }
}

extension Sandbox.Fault: Equatable {
    /// Whether both are the same fault, with equal parameters.
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.parameters.map { AnyHashable($0) } == right.parameters.map { AnyHashable($0) }
    }
}

extension Sandbox.Fault {
    /// The session of the request's token is removed before the request is handled: the answer is 952.
    public static let expireToken = Self("expireToken", effect: .before { $0.forgetSession() })

    /// The answer is delayed by this duration, on the sandbox's clock.
    public static func delay(_ duration: Duration) -> Self {
        Self("delay", duration, effect: .before { try await $0.engine.clock.wait(for: duration) })
    }

    /// The connection is closed after this many bytes of the answer's body; its head announces the whole body.
    public static func cut(afterBodyBytes count: Int) -> Self {
        Self(
            "cut",
            count,
            effect: .after { answer, _ in answer.delivery = .cut(afterBodyBytes: max(0, count)) }
        )
    }

    /// The request is executed, and the connection is closed after this many bytes of its answer, counted from the
    /// first byte of the status line, so anywhere in head or body. The answer is not compressed; a chunked one is
    /// sent in two chunks. If the answer is shorter, it is sent whole before the connection is closed.
    public static func cutAnswer(
        afterBytes count: Int,
        framing: Sandbox.AnswerFraming = .contentLength
    ) -> Self {
        Self("cutAnswer", count, framing, effect: .sending { $0.bytes(framing).prefix(max(0, count)) })
    }

    /// The request is executed, and its answer is chunked. After a first chunk of this many bytes of the body (none
    /// by default) come a chunk with a wrong size, the rest of the body and the last chunk. Then the connection is
    /// closed.
    public static func badChunkSize(_ mistake: Sandbox.ChunkSizeMistake, afterBodyBytes count: Int = 0) -> Self {
        Self(
            "badChunkSize",
            mistake,
            count,
            effect: .sending { $0.bytes(mistake, afterBodyBytes: max(0, count))[...] }
        )
    }

    /// The answer is complete and announces that the connection stays open, but the connection is closed right
    /// after it.
    public static let closeAfterAnswer = Self(
        "closeAfterAnswer",
        effect: .after { answer, _ in answer.delivery = .thenClose }
    )

    /// The request is executed, its session is free for the next request, and the answer is held until
    /// ``Sandbox/releaseAnswers(_:)``.
    public static let holdAnswer = Self(
        "holdAnswer",
        effect: .after { try await $1.engine.heldAnswers.hold() }
    )

    /// The request fails with 952, as if it had reached another host behind the same load balancer: it is not
    /// executed, and the session stays open.
    public static let refuseToken = Self(
        "refuseToken",
        strikes: { $0.needsToken },
        effect: .instead { _ in throw FileMakerError(952) }
    )

    /// The login succeeds and counts as an open session, but every request with its token fails with 952, as behind
    /// a load balancer that sends each connection to another host. Only the logout is accepted.
    public static let refuseFreshToken = Self(
        "refuseFreshToken",
        strikes: { $0 == .login },
        effect: .after { $1.refuseToken(of: $0) }
    )

    /// The answer to the logout is OK, but the session stays open until it expires.
    public static let lostLogout = Self(
        "lostLogout",
        strikes: { $0 == .logout },
        effect: .instead { try $0.logOut(after: nil) }
    )

    /// The answer to the logout is OK, but the session stays open for this duration, on the sandbox's clock.
    public static func lateLogout(_ duration: Duration) -> Self {
        Self(
            "lateLogout",
            duration,
            strikes: { $0 == .logout },
            effect: .instead { try $0.logOut(after: duration) }
        )
    }

    /// The connection is closed without an answer; nothing was executed.
    public static let reset = Self("reset", effect: .instead { _ in .nothing })

    /// The request is executed, then the connection is closed without an answer.
    public static let resetAfterExecution = Self("resetAfterExecution", effect: .sending { _ in [] })

    /// The page that a web server sends while the engine behind it is down; the request is not executed.
    public static func html(status: Int) -> Self {
        Self("html", status, effect: .instead { _ in .page(status: status) })
    }

    /// The request is executed, and a gateway's error page replaces its answer.
    public static func htmlAfterExecution(status: Int) -> Self {
        Self("htmlAfterExecution", status, effect: .after { answer, _ in answer = .page(status: status) })
    }

    /// Status 200 with a body of truncated JSON; the request is executed.
    public static let brokenJSON = Self(
        "brokenJSON",
        effect: .after { answer, _ in answer.body = Array(answer.body.prefix(max(1, answer.body.count / 2))) }
    )

    /// An empty body with this status; the request is not executed.
    public static func empty(status: Int) -> Self {
        Self("empty", status, effect: .instead { _ in .empty(status: status) })
    }

    /// A FileMaker error by its number, by its name or as a whole; the request is not executed.
    public static func error(_ error: FileMakerError) -> Self {
        Self("error", error, effect: .instead { _ in throw error })
    }

    /// A FileMaker error in place of the answer. The code is any type whose raw value is the error's number, such as
    /// FMData's `FileMakerErrorCode`. The request is not executed.
    public static func error(_ code: some RawRepresentable<Int>) -> Self { .error(FileMakerError(code)) }

    /// The error for a session beyond the maximum, whatever the maximum is.
    public static let fullHost = Self(
        "fullHost",
        effect: .instead { throw FileMakerError($0.engine.configuration.sessionLimitCode) }
    )

    /// The engine restarts: all sessions end, and this request gets the web server's 502.
    public static let restart = Self("restart", effect: .instead { $0.restart() })
}

extension Sandbox.Fault {
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
