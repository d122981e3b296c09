import ArgumentParser
import FMData
import Foundation

/// A command's connections to a host. They end with a logout, whether the command succeeds, fails or is interrupted;
/// only the session of a profile is kept for the next command.
actor HostVisit {
    /// The visit of the assistant's server, whose calls run commands; nil elsewhere.
    @TaskLocal static var current: HostVisit?

    private let findPlace: @Sendable () throws -> Place
    private var found: Place?
    private var servers: [DataAPI.Server] = []
    private var databases: [DataAPI.Database] = []
    private var usualDatabase: DataAPI.Database?
    private var running: RunningSessions?
    private var writesUnderWay = 0

    private init(_ findPlace: @escaping @Sendable () throws -> Place) { self.findPlace = findPlace }

    /// Where and as whom.
    func place() throws -> Place {
        if let found { return found }
        let place = try findPlace()
        found = place
        return place
    }

    /// Says what is worth knowing and no error.
    func notice(_ line: String) { found?.notice(line) }

    /// The database of the place. Nothing is sent yet.
    func open() throws -> DataAPI.Database {
        if let usualDatabase { return usualDatabase }
        let database = try open(nil)
        usualDatabase = database
        return database
    }

    /// The database of the place, for reads: what fails in passing is asked again. Nothing is sent yet.
    func openForReading() throws -> DataAPI.Database { try open().retrying() }

    /// Another database, or one that is spoken to in another way. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - otherName: The name of a different database.
    ///   - adjust: Changes how it is spoken to.
    func open(
        _ otherName: String?,
        _ adjust: (inout DataAPI.Config) -> Void = { _ in }
    ) throws -> DataAPI.Database {
        let place = try place()
        if place.tokens == nil, place.notesSessions, running == nil {
            running = RunningSessions(in: UserFolders(environment: ProcessInfo.processInfo.environment).running)
        }
        let database = try place.database(otherName) { config in
            if let running { config.sessions.tokenStore = running.store { await place.end($0) } }
            adjust(&config)
        }
        servers.append(database.server)
        databases.append(database)
        return database
    }

    /// What a layout shows. Its names are kept for completion.
    func fields(of layout: DataAPI.Layout) async throws -> LayoutFields {
        let fields = try await layout.fields()
        learn { names in
            if !names.layouts.contains(layout.name) { names.layouts.append(layout.name) }
            names.fields[layout.name] = fields.namesByLength.sorted()
        }
        return fields
    }

    /// Keeps names for completion.
    func learn(_ change: @Sendable (inout KnownNames) -> Void) {
        if let found { KnownNames.learn(at: found, change) }
    }

    /// The server, for calls that need no database. Its databases keep no session. Nothing is sent yet.
    func openServer() throws -> DataAPI.Server {
        let server = try place().server { $0.sessions.tokenStore = .memory }
        servers.append(server)
        return server
    }

    /// A database to which nothing is sent, for a call that is shown only.
    func openForDryRun(_ dryRun: DryRun) throws -> DataAPI.Database {
        let place = try place()
        let server = try place.server { config in
            config.middleware = [dryRun.middleware]
            config.sessions.tokenStore = .memory
            config.explainsErrors = false
        }
        servers.append(server)
        return server.addDatabase(
            try place.knownDatabase,
            credentials: DataAPI.Credentials(user: place.user ?? "dry-run", password: "")
        )
    }

    /// Does a write, of which the user is told if an interruption leaves its outcome unknown.
    func writing<Value: Sendable>(_ write: @Sendable () async throws -> Value) async throws -> Value {
        writesUnderWay += 1
        defer { writesUnderWay -= 1 }
        return try await write()
    }

    private func cancel() async {
        if writesUnderWay > 0 { note("Interrupted: whether the write was carried out is not known.") }
        await found?.password?.cancel()
    }

    private func logOut() async {
        for server in servers { _ = await server.shutdown().awaitSingleResult() }
        // The next command ends what the host may still have.
        if !databases.contains(where: { $0.sessionStatus.sessionsLeft > 0 }) { running?.remove() }
        if databases.contains(where: { $0.sessionStatus.storeFailures > 0 }) {
            found?.notice("The session is not kept: its file cannot be used.")
        }
    }

    private enum End: Sendable {
        case done(Result<Void, any Error>)
        case interrupted(by: Int32)
    }

    /// Runs a command's work, then logs out. Ctrl-C, SIGTERM and a terminal that is closed cancel the work and log
    /// out too; a second signal ends the program without waiting for that.
    ///
    /// A call of an assistant has the connections of its server, and fails with the error of the work.
    ///
    /// - Parameters:
    ///   - talk: What is said beside the data.
    ///   - errorsAreJSON: Whether an error is told as a JSON object.
    ///   - showsProgress: Whether a terminal shows what the work waits for.
    static func make(
        with options: ConnectionOptions,
        _ talk: TalkOptions,
        errorsAreJSON: Bool = false,
        showsProgress: Bool = true,
        _ work: @escaping @Sendable (HostVisit) async throws -> Void
    ) async throws {
        if let current { return try await work(current) }
        try await make(
            at: Place(options, talk, environment: ProcessInfo.processInfo.environment),
            errorsAreJSON: errorsAreJSON,
            showsProgress: showsProgress,
            work
        )
    }

    /// Runs a command's work as ``make(with:_:errorsAreJSON:showsProgress:_:)`` does.
    static func make(
        at place: @autoclosure @escaping @Sendable () throws -> Place,
        errorsAreJSON: Bool = false,
        showsProgress: Bool = true,
        _ work: @escaping @Sendable (HostVisit) async throws -> Void
    ) async throws {
        let visit = HostVisit(place)
        let interruption = await Interruption()
        let end = await withTaskGroup(of: End?.self) { group in
            group.addTask {
                do {
                    let place = try await visit.place()
                    return .done(
                        .success(
                            try await ProgressLine.shared.during(
                                "Waiting for \(place.host ?? "a host")",
                                isQuiet: place.isQuiet || !showsProgress
                            ) { try await work(visit) }
                        )
                    )
                } catch {
                    return .done(.failure(error))
                }
            }
            group.addTask { await interruption.wait().map { .interrupted(by: $0) } }
            let first = await group.next() ?? nil
            if case .interrupted = first { await visit.cancel() }
            group.cancelAll()
            return first
        }
        Pager.shared.endInput()
        await visit.logOut()
        switch end {
        case .done(.success): break
        // The user has seen enough.
        case .done(.failure(let error as StandardOutput.ReaderGone)) where error.wasPager: break
        case .done(.failure(let error)): try CommandFailure(error).end(asJSON: errorsAreJSON)
        case .interrupted(let signal): throw ExitStatus.interrupted(by: signal)
        case nil: throw CancellationError()
        }
    }
}
