import Foundation
import NIOCore
import NIOHTTP1

@testable import FMSandbox

/// A host: the engine of FMSandbox behind its own handlers, on a virtual loop and a virtual thread.
final class SimulatedHost: SimulatedPeer, @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    let name: String
    let engine: Engine
    let clock: HostClock
    let loop: VirtualLoop
    private let connections: ServerConnections
    private let machine: VirtualMachine
    let trace: Trace
    private(set) var isDown = false
    private let tokens = SeenTokens()
    private var backup: World
    /// The number of restored backups.
    private(set) var restores = 0
    var whenRestored: () -> Void = {}
    /// How often it has ended all sessions, while it went on itself.
    private(set) var expiries = 0
    private let work: Work

    init(name: String, plan: HostPlan, on machine: VirtualMachine, trace: Trace) throws {
        self.name = name
        self.machine = machine
        self.trace = trace
        clock = HostClock(machine)
        loop = VirtualLoop(on: machine)
        engine = try Engine([plan.solution], configuration: plan.configuration(clock: clock))
        backup = engine.world
        work = plan.work
        let executor = VirtualExecutor(on: machine)
        connections = try ServerConnections(
            of: engine,
            tasks: RunningTasks { body in
                Task(executorPreference: executor) { await body() }
            }
        )
    }

    func accept(_ channel: VirtualChannel, through wire: Wire) {
        loop.execute { [self] in
            do {
                try connections.accept(channel, authority: name)
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(TokenWatch(tokens), position: .before(pipeline.handler(type: HTTPHandler.self)))
                channel.open(to: wire)
            } catch {
                wire.reset()
                channel.close0(error: error, mode: .all, promise: nil)
            }
        }
    }

    /// Carries out an event.
    func suffer(_ event: HostEvent) {
        trace.note { "\(self.name): \(event)" }
        switch event {
        case .restart(let milliseconds):
            isDown = milliseconds > 0
            connections.drop(before: engine.closeAllSessions(isRestart: true, dropsConnections: true))
            machine.schedule(at: machine.now + .milliseconds(Int64(milliseconds)), on: loop.thread) { [self] in
                isDown = false
            }
        case .expireSessions:
            engine.closeAllSessions()
            expiries += 1
        case .jump(let seconds): clock.jump(by: seconds)
        case .dropConnections:
            connections.drop(
                before: engine.withState { state in
                    state.generation += 1
                    return state.generation
                }
            )
        case .releaseAnswers: engine.heldAnswers.release()
        case .backUp: backup = engine.world
        case .restore:
            engine.withState { state in
                state.world = backup
                state.worldVersion += 1
            }
            restores += 1
            whenRestored()
            suffer(.restart(downForMilliseconds: 0))
        }
    }

    /// Signs an account in at its provider. Returns the identifier for the login; empty for an unknown request.
    func signIn(_ account: String, _ requestId: String) -> String {
        engine.withState { $0.oauth.signIn(account: account, requestId: requestId) } ?? ""
    }

    /// Carries out the commit of another client on the record of a step, which may be deleted.
    func commitByOthers(_ verb: Verb, step id: Int) {
        trace.note { "\(self.name): \(verb) of step \(id)" }
        // The note distinguishes records to which a restored backup gives old ids again.
        let note = HostPlan.secret + (work.hasRestores ? "o\(id)" : "")
        try? engine.commitOfOthers("Rows", HostPlan.database) { writer, table in
            switch verb {
            case .createByOthers:
                _ = try writer.create(
                    in: table,
                    writer.changes(["Marker": "o\(id)", "Note": note], in: table)
                )
            case .editByOthers:
                try writer.change(id + 1, in: table, writer.changes(["Note": HostPlan.secret + "o"], in: table))
            default: try writer.delete(id + 1, in: table)
            }
        }
    }

    /// Removes all faults, and ends whatever they have broken.
    func calmDown() {
        engine.withState { $0.faults = FaultScript() }
        suffer(.releaseAnswers)
        suffer(.dropConnections)
        suffer(.expireSessions)
    }

    /// Removes all faults; running requests continue.
    func forgetFaults(expiresSessions: Bool) {
        engine.withState { $0.faults = FaultScript() }
        suffer(.releaseAnswers)
        if expiresSessions { suffer(.expireSessions) }
    }

    /// The number of requests for records so far.
    var polls: Int {
        let counts = engine.counters.requests
        return counts[.getRecords, default: 0] + counts[.find, default: 0] + counts[.getRecord, default: 0]
    }

    /// Called when a request to end the session of this token arrives.
    var whenLoggedOut: (String) -> Void {
        get { tokens.whenLoggedOut }
        set { tokens.whenLoggedOut = newValue }
    }

    /// The number of open sessions that the client knows, since it has used them.
    var knownSessions: Int { engine.openSessions.filter { tokens.seen.contains($0.token) }.count }

    func end() {
        for channel in connections.take() { channel.close(promise: nil) }
        engine.heldAnswers.release()
        connections.interruptRequests()
    }
}

/// The tokens that requests have had.
private final class SeenTokens {
    var seen: Set<String> = []
    var whenLoggedOut: (String) -> Void = { _ in }
}

/// Records the tokens of requests before they are answered.
private final class TokenWatch: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let tokens: SeenTokens

    init(_ tokens: SeenTokens) { self.tokens = tokens }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = Self.unwrapInboundIn(data) {
            if let value = head.headers.first(name: "authorization"), value.hasPrefix("Bearer ") {
                tokens.seen.insert(String(value.dropFirst(7)))
            }
            if head.method == .DELETE, let sessions = head.uri.firstRange(of: "/sessions/") {
                tokens.whenLoggedOut(String(head.uri[sessions.upperBound...].prefix { $0 != "?" }))
            }
        }
        context.fireChannelRead(data)
    }
}

/// The wall clock of a host: it runs with the machine's, and may jump.
final class HostClock: SandboxClock, @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private let machine: VirtualMachine
    private let thread: VirtualMachine.Thread
    private var offset: TimeInterval = 1_736_942_400

    init(_ machine: VirtualMachine) {
        self.machine = machine
        thread = machine.makeThread()
    }

    var now: Date {
        Date(timeIntervalSince1970: offset + Double((machine.now - machine.start).nanoseconds) / 1_000_000_000)
    }

    func jump(by seconds: Int) { offset += TimeInterval(seconds) }

    func wait(for duration: Duration) async throws {
        let alarm = Alarm()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                alarm.set(continuation, on: machine, thread, after: TimeAmount(duration))
            }
        } onCancel: {
            alarm.cancel()
        }
    }

    private final class Alarm: @unchecked Sendable {
        // Sendable because it runs on the one real thread of the machine.
        private var continuation: CheckedContinuation<Void, any Error>?
        private var isCancelled = false

        func set(
            _ continuation: CheckedContinuation<Void, any Error>,
            on machine: VirtualMachine,
            _ thread: VirtualMachine.Thread,
            after span: TimeAmount
        ) {
            guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
            self.continuation = continuation
            machine.schedule(at: machine.now + span, on: thread) {
                self.end(.success(()))
            } orDrop: {
                self.cancel()
            }
        }

        func cancel() {
            isCancelled = true
            end(.failure(CancellationError()))
        }

        private func end(_ result: Result<Void, any Error>) {
            continuation?.resume(with: result)
            continuation = nil
        }
    }
}
