import FMData
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The connection to the store, made when it is needed and made again when it breaks.
///
/// Everything happens on one event loop. A command is sent at most once, since nobody knows what became of a command
/// without an answer.
final class StoreClient: Sendable {
    /// How long something may take.
    struct Times: Sendable {
        /// An answer, and a connection that is being made.
        var answer = TimeAmount.seconds(2)
        /// How long a command waits for a connection.
        var connection = TimeAmount.seconds(2)
    }

    /// What the connection is told to its owner, on the event loop.
    struct Observer: Sendable {
        var message: @Sendable (_ channel: String, _ text: [UInt8]) -> Void = { _, _ in }
        /// There is a connection again. Whoever holds something should say so.
        var connected: @Sendable (StoreRun) -> Void = { _ in }
    }

    let eventLoop: any EventLoop
    private let core: NIOLoopBoundBox<Core>
    private let counts = NIOLockedValueBox(0)

    /// - Parameter name: what the store's list of clients shows.
    init(
        address: StoreAddress,
        name: String,
        times: Times = Times(),
        surroundings: FleetSurroundings = FleetSurroundings(),
        logger: Logger?,
        observer: Observer
    ) {
        eventLoop = surroundings.eventLoop
        var settings = StoreConnectionMachine.Settings()
        settings.user = address.user
        settings.password = address.password
        settings.name = name
        settings.answerTime = times.answer
        let log = StoreLog(logger: logger, place: address.description)
        let core = Core(
            address: address,
            settings: settings,
            patience: times.connection,
            surroundings: surroundings,
            log: log,
            observer: observer
        )
        self.core = .makeBoxSendingValue(core, eventLoop: eventLoop)
    }

    /// The number of commands that were sent.
    var commandCount: Int { counts.withLockedValue { $0 } }

    /// Sends a command, and returns the answer.
    ///
    /// - Parameter command: makes the command for the run of the store's process that will get it.
    func send(_ command: @escaping @Sendable (StoreRun) -> RESPCommand) async throws -> RESPValue {
        counts.withLockedValue { $0 += 1 }
        return try await withCheckedThrowingContinuation { continuation in
            eventLoop.execute { [core] in
                core.value.send(command) { continuation.resume(with: $0.mapError { $0 as any Error }) }
            }
        }
    }

    /// Runs a script. The store keeps scripts by their hash; one that it does not have is sent once more in full.
    func eval(
        _ script: StoreScript,
        keys: [String],
        _ arguments: @escaping @Sendable (StoreRun) -> [[UInt8]]
    ) async throws -> RESPValue {
        do {
            return try await send { run in script.command("EVALSHA", script.hash, keys, arguments(run)) }
        } catch let error as StoreError where error.word == "NOSCRIPT" {
            return try await send { run in script.command("EVAL", script.text, keys, arguments(run)) }
        }
    }

    /// Has the messages of a channel delivered to the observer from now on, through all connections.
    func subscribe(_ channel: String) {
        eventLoop.execute { [core] in core.value.subscribe(channel) }
    }

    func unsubscribe(_ channel: String) {
        eventLoop.execute { [core] in core.value.unsubscribe(channel) }
    }

    /// Closes the connection for good.
    func shutdown() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [core] in
                core.value.shutdown()
                continuation.resume()
            }
        }
    }
}

/// A script of the store.
struct StoreScript: Sendable {
    let text: String
    /// SHA-1 of the text, in hexadecimal digits.
    let hash: String

    func command(_ verb: String, _ name: String, _ keys: [String], _ arguments: [[UInt8]]) -> RESPCommand {
        var command = RESPCommand(verb, name, "\(keys.count)")
        for key in keys { command.append(key) }
        for argument in arguments { command.append(argument) }
        return command
    }
}

/// The state of a client, which is confined to its event loop.
private final class Core {
    private struct Waiting {
        let command: (StoreRun) -> RESPCommand
        let report: (Result<RESPValue, StoreError>) -> Void
        let deadline: NIODeadline
    }

    private let address: StoreAddress
    private let settings: StoreConnectionMachine.Settings
    /// How long a command waits for a connection.
    private let patience: TimeAmount
    private let surroundings: FleetSurroundings
    private let dialer: StoreDialer
    private let log: StoreLog
    private let observer: StoreClient.Observer

    private var search: MasterSearch?
    /// Where the connection leads to.
    private var place: StoreAddress.Place?
    private var connection: StoreConnection?
    private var run: StoreRun?
    /// For messages, where the store knows only version 2.
    private var messages: StoreConnection?
    private var isVersion2 = false
    private var isConnecting = false
    private var isShutDown = false
    private var channels: Set<String> = []
    private var waiting: [Waiting] = []
    private var backOff = StoreBackOff()
    private var connectsNotBefore = NIODeadline.uptimeNanoseconds(0)

    init(
        address: StoreAddress,
        settings: StoreConnectionMachine.Settings,
        patience: TimeAmount,
        surroundings: FleetSurroundings,
        log: StoreLog,
        observer: StoreClient.Observer
    ) {
        self.address = address
        self.settings = settings
        self.patience = patience
        self.surroundings = surroundings
        dialer = StoreDialer(tls: address.tls, surroundings: surroundings, limit: settings.answerTime)
        self.log = log
        self.observer = observer
    }

    private var eventLoop: any EventLoop { surroundings.eventLoop }

    func send(
        _ command: @escaping (StoreRun) -> RESPCommand,
        _ report: @escaping (Result<RESPValue, StoreError>) -> Void
    ) {
        if isShutDown { return report(.failure(.shutdown)) }
        if let connection, let run, connection.isReady { return connection.send(command(run), noting(report)) }
        let deadline = eventLoop.now + patience
        waiting.append(Waiting(command: command, report: report, deadline: deadline))
        schedule(deadline) { $0.refuseLate() }
        connect()
    }

    func subscribe(_ channel: String) {
        guard !isShutDown, channels.insert(channel).inserted else { return }
        if let connection = messages ?? connection, connection.isReady { connection.subscribe(channel) }
        connect()
    }

    func unsubscribe(_ channel: String) {
        guard channels.remove(channel) != nil else { return }
        if let connection = messages ?? connection, connection.isReady { connection.unsubscribe(channel) }
    }

    func shutdown() {
        isShutDown = true
        search?.cancel()
        connection?.close()
        messages?.close()
        for entry in waiting { entry.report(.failure(.shutdown)) }
        waiting = []
    }

    private func noting(
        _ report: @escaping (Result<RESPValue, StoreError>) -> Void
    ) -> (Result<RESPValue, StoreError>) -> Void {
        { [log, eventLoop] result in
            if case .failure(let error) = result, error.word != "NOSCRIPT" { log.failed(error, now: eventLoop.now) }
            report(result)
        }
    }

    private func refuseLate() {
        let now = eventLoop.now
        let late = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        for entry in late { entry.report(.failure(.unreachable)) }
    }

    // MARK: Connecting

    private func connect() {
        guard connection == nil, !isConnecting, !isShutDown else { return }
        isConnecting = true
        schedule(max(eventLoop.now, connectsNotBefore)) { core in core.connectNow() }
    }

    private func connectNow() {
        guard !isShutDown else { return }
        switch address.location {
        case .place(let place): connect(to: place, settings)
        case .master(let name, let sentinels): findMaster(name, sentinels)
        }
    }

    private func findMaster(_ name: String, _ sentinels: [StoreAddress.Sentinel]) {
        var ofSentinels = settings
        ofSentinels.user = address.sentinelUser
        ofSentinels.password = address.sentinelPassword
        let search = MasterSearch(for: name, at: sentinels, settings: ofSentinels, dialer: dialer) {
            [weak self] found in
            guard let self else { return }
            self.search = nil
            switch found {
            case .success(let place):
                var settings = settings
                settings.mustBeMaster = true
                connect(to: place, settings)
            case .failure(let error):
                connectionFailed(error)
            }
        }
        self.search = search
        search.start()
    }

    private func connect(to place: StoreAddress.Place, _ settings: StoreConnectionMachine.Settings) {
        var settings = settings
        if isVersion2 { settings.version = 2 }
        let connection = StoreConnection(
            settings: settings,
            observer: StoreConnection.Observer(
                ready: { [weak self] run in self?.becameReady(run) },
                fallBack: { [weak self] in self?.isVersion2 = true },
                message: { [observer] channel, text in observer.message(channel, text) },
                subscriptionRefused: { [weak self] error in self?.noteFailure(error) },
                closed: { [weak self] error in self?.closed(error) }
            )
        )
        self.connection = connection
        self.place = place
        dialer.open(connection, to: place) { [weak self] in self?.closed(.unreachable) }
    }

    private func becameReady(_ run: StoreRun) {
        isConnecting = false
        backOff.reset()
        self.run = run
        if isVersion2 {
            if !channels.isEmpty { openMessages() }
        } else {
            for channel in channels.sorted() { connection?.subscribe(channel) }
        }
        observer.connected(run)
        let waiting = waiting
        self.waiting = []
        for entry in waiting { connection?.send(entry.command(run), noting(entry.report)) }
    }

    private func openMessages() {
        guard messages == nil, !isShutDown, let place else { return }
        var settings = settings
        settings.version = 2
        settings.isForMessages = true
        let messages = StoreConnection(
            settings: settings,
            observer: StoreConnection.Observer(
                ready: { [weak self] _ in
                    guard let self else { return }
                    for channel in channels.sorted() { self.messages?.subscribe(channel) }
                },
                fallBack: {},
                message: { [observer] channel, text in observer.message(channel, text) },
                subscriptionRefused: { [weak self] error in self?.noteFailure(error) },
                closed: { [weak self] _ in self?.messagesClosed() }
            )
        )
        self.messages = messages
        dialer.open(messages, to: place) { [weak self] in self?.messagesClosed() }
    }

    /// Messages only shorten waits that a timer ends anyway, so their connection is made again with the next one.
    private func messagesClosed() {
        messages = nil
        schedule(eventLoop.now + .seconds(5)) { core in
            if core.connection?.isReady == true, core.isVersion2, !core.channels.isEmpty { core.openMessages() }
        }
    }

    private func closed(_ error: StoreError) {
        guard connection != nil else { return }
        connection = nil
        run = nil
        connectionFailed(error)
    }

    private func connectionFailed(_ error: StoreError) {
        isConnecting = false
        noteFailure(error)
        if error.isSetup {
            // The next connection would be refused as well.
            let refused = waiting
            waiting = []
            for entry in refused { entry.report(.failure(error)) }
        }
        connectsNotBefore = eventLoop.now + backOff.next(jitter: surroundings.fraction())
        if !waiting.isEmpty || !channels.isEmpty { connect() }
    }

    private func noteFailure(_ error: StoreError) {
        if !isShutDown { log.failed(error, now: eventLoop.now) }
    }

    private func schedule(_ instant: NIODeadline, _ body: @escaping (Core) -> Void) {
        eventLoop.assumeIsolated().scheduleTask(deadline: instant) { [weak self] in
            if let self { body(self) }
        }
    }
}

/// The pause before the next connection. It doubles, and its upper half is drawn at random.
struct StoreBackOff: Equatable {
    static let minimum = TimeAmount.milliseconds(50)
    static let maximum = TimeAmount.seconds(5)
    private var failures = 0

    mutating func next(jitter: Double) -> TimeAmount {
        let whole = min(Self.maximum.nanoseconds, Self.minimum.nanoseconds << min(failures, 10))
        failures += 1
        return .nanoseconds(Int64(Double(whole) * (0.5 + 0.5 * min(max(jitter, 0), 1))))
    }

    mutating func reset() { failures = 0 }
}

/// Logs the store's failures: each kind once in a minute.
private final class StoreLog {
    private let logger: Logger?
    private let place: String
    private var last: [StoreError: NIODeadline] = [:]

    init(logger: Logger?, place: String) {
        self.logger = logger
        self.place = place
    }

    func failed(_ error: StoreError, now: NIODeadline) {
        guard let logger else { return }
        if let last = last[error], now < last + .seconds(60) { return }
        last[error] = now
        let metadata: Logger.Metadata = ["store": "\(place)", "reason": "\(error)"]
        if error.isSetup {
            logger.error("the store refuses this account", metadata: metadata)
        } else {
            logger.warning("the store of the fleet failed", metadata: metadata)
        }
    }
}
