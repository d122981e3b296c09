import FMModel
import FMSandbox
import Foundation

/// A line of `fmdata sandbox --control`: a command from a test in any language to a running sandbox.
enum ControlCommand: Equatable {
    case fault(Sandbox.FaultRule)
    case clearFaults
    case release(count: Int?)
    case held
    case expire
    case restart
    case reset
    case advance(Duration)
    case signIn(account: String, requestId: String)
    case counters
    case sessions
    case records(table: String, database: String)
    case create(table: String, database: String, values: [String: String])
    case edit(recordId: Int, table: String, database: String, values: [String: String])
    case delete(recordId: Int, table: String, database: String)
    case lock(recordId: Int, table: String, database: String, isLocked: Bool)
    case save(folder: String)

    /// The error in a line.
    struct Failure: Error, Equatable {
        var reason: String
    }

    /// The commands and their arguments, for the help text.
    static let usage = """
        fault <fault>, clear-faults, held, release [<count>], expire, advance <seconds>, \
        sign-in <account> <request id>, restart, reset, counters, sessions, records <database>/<table>, \
        create <database>/<table> {"<field>":"<value>"}, edit <database>/<table>/<record id> {"<field>":"<value>"}, \
        delete <database>/<table>/<record id>, \
        lock <database>/<table>/<record id>, unlock <database>/<table>/<record id>, save <folder>
        """

    init(_ line: String) throws(Failure) {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let argument = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        let name = parts.first ?? ""
        switch name {
        case "clear-faults", "held", "expire", "restart", "reset", "counters", "sessions":
            guard argument.isEmpty else { throw Failure(reason: "\(name) takes no argument") }
        case "fault", "advance", "sign-in", "records", "create", "edit", "delete", "lock", "unlock", "save":
            guard !argument.isEmpty else { throw Failure(reason: "\(name) needs an argument") }
        case "release": break
        default:
            throw Failure(reason: "unknown command; known are \(Self.usage)")
        }
        switch name {
        case "fault":
            do {
                self = .fault(try FaultArgument(argument).rule)
            } catch {
                throw Failure(reason: error.reason)
            }
        case "clear-faults": self = .clearFaults
        case "held": self = .held
        case "release":
            let count = Int(argument)
            guard argument.isEmpty || count.map({ $0 > 0 }) ?? false else {
                throw Failure(reason: "release takes a number of answers, from 1 on; all without it")
            }
            self = .release(count: count)
        case "expire": self = .expire
        case "advance":
            guard let duration = Duration(seconds: argument) else {
                throw Failure(reason: "advance takes seconds, more than 0 and no more than 31536000")
            }
            self = .advance(duration)
        case "sign-in":
            // The name of an account may contain spaces.
            guard let space = argument.lastIndex(of: " ") else {
                throw Failure(reason: "sign-in takes an account and the X-FMS-Request-ID of getoauthurl")
            }
            self = .signIn(
                account: argument[..<space].trimmingCharacters(in: .whitespaces),
                requestId: String(argument[argument.index(after: space)...])
            )
        case "restart": self = .restart
        case "reset": self = .reset
        case "counters": self = .counters
        case "sessions": self = .sessions
        case "records":
            let place = try Self.place(argument, count: 2)
            self = .records(table: place[1], database: place[0])
        case "create":
            let (text, values) = try Self.values(argument)
            let place = try Self.place(text, count: 2)
            self = .create(table: place[1], database: place[0], values: values)
        case "edit":
            let (text, values) = try Self.values(argument)
            let (recordId, table, database) = try Self.record(text)
            self = .edit(recordId: recordId, table: table, database: database, values: values)
        case "delete":
            let (recordId, table, database) = try Self.record(argument)
            self = .delete(recordId: recordId, table: table, database: database)
        case "save": self = .save(folder: argument)
        default:
            let (recordId, table, database) = try Self.record(argument)
            self = .lock(recordId: recordId, table: table, database: database, isLocked: name == "lock")
        }
    }

    private static func place(_ text: String, count: Int) throws(Failure) -> [String] {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == count else { throw Failure(reason: "expected \(count) names with / between them") }
        return parts
    }

    private static func record(_ text: String) throws(Failure) -> (recordId: Int, table: String, database: String) {
        let place = try place(text, count: 3)
        guard let recordId = Int(place[2]) else { throw Failure(reason: "a record id is a number") }
        return (recordId, place[1], place[0])
    }

    /// The values at the end of a text, and the text before them, which may contain spaces.
    private static func values(_ text: String) throws(Failure) -> (before: String, values: [String: String]) {
        guard let start = text.firstIndex(of: "{"),
            let values = try? JSONDecoder().decode([String: String].self, from: Data(text[start...].utf8))
        else { throw Failure(reason: "expected values as JSON, all of them texts: {\"City\":\"Kiel\"}") }
        return (text[..<start].trimmingCharacters(in: .whitespaces), values)
    }

    /// Performs the command. Returns the line to answer: `ok`, JSON, or `error: …`.
    ///
    /// - Parameter files: The folder in which the command may write.
    func perform(on sandbox: Sandbox, files: WritableFolder) -> String {
        do {
            return try answer(of: sandbox, files)
        } catch let error as FileMakerError {
            return "error: \(error.code) \(error.message)"
        } catch {
            return "error: \(error)"
        }
    }

    private func answer(of sandbox: Sandbox, _ files: WritableFolder) throws -> String {
        switch self {
        case .fault(let rule): sandbox.inject(rule)
        case .clearFaults: sandbox.clearFaults()
        case .held: return String(sandbox.heldAnswerCount)
        case .release(let count): sandbox.releaseAnswers(count)
        case .expire: sandbox.expireSessions()
        case .advance(let duration):
            guard sandbox.advanceClock(by: duration) else { return "error: the clock is the machine's" }
        case .signIn(let account, let requestId):
            guard let identifier = sandbox.signIn(account: account, oauthRequestId: requestId) else {
                return "error: no sign-in has begun with that request id"
            }
            return identifier
        case .restart: sandbox.restart()
        case .reset: sandbox.reset()
        case .counters: return try Self.json(CountersLine(sandbox.counters))
        case .sessions: return try Self.json(sandbox.sessions.map(SessionLine.init))
        case .records(let table, let database):
            guard let records = sandbox.records(ofTable: table, inDatabase: database) else { throw FileMakerError(106) }
            return try Self.json(records)
        case .create(let table, let database, let values):
            return String(try sandbox.createRecord(values, ofTable: table, inDatabase: database))
        case .edit(let recordId, let table, let database, let values):
            try sandbox.editRecord(recordId, values, ofTable: table, inDatabase: database)
        case .delete(let recordId, let table, let database):
            try sandbox.deleteRecord(recordId, ofTable: table, inDatabase: database)
        case .lock(let recordId, let table, let database, let isLocked):
            try sandbox.setLocked(isLocked, recordId: recordId, ofTable: table, inDatabase: database)
        case .save(let folder): try sandbox.save(into: try files.folder(folder), called: folder)
        }
        return "ok"
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// The counters in the format of the command `counters`.
private struct CountersLine: Encodable {
    var requests: [String: Int]
    var strayRequests, logins, failedLogins, logouts, expiredSessions, openSessions, mostOpenSessions: Int
    var mostConcurrentRequests, executedWrites, scriptRuns, connections: Int

    init(_ counters: Sandbox.Counters) {
        requests = Dictionary(uniqueKeysWithValues: counters.requests.map { ($0.key.rawValue, $0.value) })
        strayRequests = counters.strayRequests
        logins = counters.logins
        failedLogins = counters.failedLogins
        logouts = counters.logouts
        expiredSessions = counters.expiredSessions
        openSessions = counters.openSessions
        mostOpenSessions = counters.mostOpenSessions
        mostConcurrentRequests = counters.mostConcurrentRequests
        executedWrites = counters.executedWrites
        scriptRuns = counters.scriptRuns
        connections = counters.connections
    }
}

/// A session in the format of the command `sessions`.
private struct SessionLine: Encodable {
    var account, database: String
    var isInUse: Bool

    init(_ session: Sandbox.SessionInfo) {
        account = session.account
        database = session.database
        isInUse = session.isInUse
    }
}

/// Reads commands line by line on a thread of its own, and answers each on standard output. The end of the input ends
/// the thread, not the sandbox.
enum ControlReader {
    /// - Parameter files: The folder in which commands may write.
    static func start(_ sandbox: Sandbox, files: WritableFolder) {
        Thread.detachNewThread {
            while let line = readLine() {
                let line = line.trimmingCharacters(in: .whitespaces)
                guard !line.isEmpty else { continue }
                print(answer(to: line, sandbox, files: files))
                fflush(nil)
            }
        }
    }

    static func answer(to line: String, _ sandbox: Sandbox, files: WritableFolder = WritableFolder()) -> String {
        do {
            return try ControlCommand(line).perform(on: sandbox, files: files)
        } catch {
            return "error: \(error.reason)"
        }
    }
}

extension Sandbox {
    /// Saves the databases into a folder.
    ///
    /// - Parameter name: The folder as the user wrote it, for errors.
    func save(into folder: URL, called name: String) throws(FileError) {
        do {
            try save(to: folder)
        } catch {
            throw FileError(error, subject: "save into \(name)")
        }
    }
}
