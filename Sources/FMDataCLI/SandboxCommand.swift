import ArgumentParser
import FMModel
import FMSandbox
import Foundation

/// `fmdata sandbox`: a FileMaker Data API server on loopback, for tests in any language and for work without a server.
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Serves the FileMaker Data API on loopback, out of memory.",
        discussion: """
            Prints its base URL on one line when it is ready, and ends on SIGINT, SIGTERM or SIGHUP. Without --solution it hosts \
            the sample database World (account admin, password secret). At a terminal it says on standard error what it \
            serves.
            """
    )

    @Option(help: "The port to listen on; 0 lets the system choose.")
    var port = 0

    @Flag(help: "Speak TLS. A second line says `CA: ` and the file that vouches for the certificate.")
    var tls = false

    @Option(help: ArgumentHelp("With TLS, show this certificate (PEM), for any name; needs --key.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The private key of --certificate (PEM, without passphrase).", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("A solution file to host; may be given several times.", valueName: "file"))
    var solution: [String] = []

    @Option(help: "How many sessions may be open at once.")
    var maxSessions = 500

    @Option(
        help: ArgumentHelp(
            "How long a session lives after its last request (what the solution says, or 900).",
            valueName: "seconds"
        ),
        transform: seconds(of:)
    )
    var sessionLifetime: Duration?

    @Option(
        help: ArgumentHelp(
            "How long a connection without a request is kept open (what the solution says, or 5).",
            valueName: "seconds"
        ),
        transform: seconds(of:)
    )
    var keepAlive: Duration?

    @Flag(
        inversion: .prefixedNo,
        help: "Compress bodies of 1 KB and more for clients that take gzip (what the solution says, or yes)."
    )
    var compression: Bool?

    @Option(
        help: ArgumentHelp(
            "The time zone of the host's wall clock: Europe/Berlin (what the solution says, or UTC).",
            valueName: "name"
        ),
        transform: { name in
            guard let zone = TimeZone(identifier: name) else {
                throw ValidationError("expected the name of a time zone, as Europe/Berlin")
            }
            return zone
        }
    )
    var timeZone: TimeZone?

    @Option(help: "How many wrong passwords in a row lock an account for five minutes; 0 for never.")
    var loginAttempts = 0

    @Option(help: ArgumentHelp("Hold every answer back for this many milliseconds.", valueName: "ms"))
    var latency = 0

    @Option(help: "The FileMaker Server release to imitate: 17, 18, 19 or 22 (what the solution says, or 22).")
    var serverVersion: Int?

    @Option(
        help: "What a find past the last record answers: 401, 101 or empty (what the solution says, or 401).",
        transform: { text in
            guard let answer = Sandbox.FindPastEnd(rawValue: text) else {
                throw ValidationError("expected 401, 101 or empty")
            }
            return answer
        }
    )
    var findPastEnd: Sandbox.FindPastEnd?

    @Option(
        help: """
            What calls answer that need a data source whose file lacks the session's account: empty, 212 or 802 (what the \
            solution says, or empty).
            """,
        transform: { text in
            guard let answer = Sandbox.DataSourceWithoutAccount(rawValue: text) else {
                throw ValidationError("expected empty, 212 or 802")
            }
            return answer
        }
    )
    var dataSourceWithoutAccount: Sandbox.DataSourceWithoutAccount?

    @Flag(help: "Take the names of layouts, fields, portals, scripts and value lists in any case.")
    var ignoreNameCase = false

    @Option(help: "An account to add to every database, with full access. It needs a password.")
    var user: String?

    @Option(
        help: """
            The password of the account to add, which may be empty: --password "". Everybody on this machine can read \
            it in the list of processes; the environment variable \(passwordVariable) is read instead if it is not given.
            """
    )
    var password: String?

    @Flag(help: "Serve containers without the session's token (server preference AuthenticatedStream=2).")
    var openContainers = false

    @Option(
        help: ArgumentHelp(
            """
            Let something go wrong: [endpoint:]fault[+skip][*count]. The faults are \
            \(FaultArgument.faults.joined(separator: ", ")). Bytes are those of the body, for cutAnswer and cutChunked of \
            head and body; a mistake is \(FaultArgument.mistakes.joined(separator: ", ")); an answer that is held waits \
            for the control command `release`. A fault strikes once, or count times (*always without end), after skip \
            requests that it lets pass: find:html502+1*2. May be given several times.
            """,
            valueName: "fault"
        ),
        transform: fault(of:)
    )
    var fault: [FaultArgument] = []

    @Flag(
        help: ArgumentHelp(
            """
            Take commands from standard input, one on each line, and answer each with a line: \(ControlCommand.usage). \
            What is saved stays below the folder of --save, or without that below the one in which the sandbox was started.
            """
        )
    )
    var control = false

    @Option(help: ArgumentHelp("Write the records as they are at the end into this folder.", valueName: "folder"))
    var save: String?

    @Flag(name: .shortAndLong, help: "Log every request to standard error: method, path, status and FileMaker's code.")
    var verbose = false

    private static func seconds(of text: String) throws -> Duration {
        guard let duration = Duration(seconds: text) else {
            throw ValidationError("expected seconds, more than 0 and no more than 31536000")
        }
        return duration
    }

    private static func fault(of text: String) throws -> FaultArgument {
        do {
            return try FaultArgument(text)
        } catch {
            throw ValidationError(error.reason)
        }
    }

    /// The environment variable for the password, which other users of the machine cannot read.
    static let passwordVariable = "FM_PASSWORD"

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
        // Without sessions, no login could succeed.
        guard maxSessions > 0 else { throw ValidationError("--max-sessions takes 1 or more.") }
        guard loginAttempts >= 0 else { throw ValidationError("--login-attempts takes no negative number.") }
        guard (0...3_600_000).contains(latency) else { throw ValidationError("--latency takes 0 to 3600000.") }
        guard serverVersion.map({ Sandbox.ServerVersion(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("--server-version takes 17, 18, 19 or 22.")
        }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--certificate and --key go together.")
        }
        guard tls || certificate == nil else { throw ValidationError("--certificate needs --tls.") }
        if user == nil, password != nil { throw ValidationError("--password needs --user.") }
        if user != nil, accountPassword == nil {
            throw ValidationError(
                "--user needs a password: set \(Self.passwordVariable), or give --password (\"\" for an empty one)."
            )
        }
    }

    private var accountPassword: String? {
        password ?? ProcessInfo.processInfo.environment[Self.passwordVariable]
    }

    func run() async throws {
        let interruption = await Interruption()
        let solutions = try solutions()
        // Check now that the folder can be written, instead of failing at the end of the session.
        if let save { try Self.makeFolder(save) }
        let sandbox = try await start(solutions)
        for argument in fault { sandbox.inject(argument.rule) }
        print(sandbox.url)
        if let file = sandbox.certificateAuthorityFile { print("CA: \(file)") }
        // A program that waits for the URL reads from a pipe, where standard output is buffered.
        fflush(nil)
        if isatty(STDERR_FILENO) != 0 {
            let welcome = Welcome(
                url: sandbox.url,
                solutions: solutions,
                authorityFile: sandbox.certificateAuthorityFile
            )
            FileHandle.standardError.write(Data(welcome.text.utf8))
        }
        if control { ControlReader.start(sandbox, files: WritableFolder(save)) }
        await interruption.wait()
        await sandbox.stop()
        if let save { try sandbox.save(into: URL(fileURLWithPath: save, isDirectory: true), called: save) }
    }

    private static func makeFolder(_ path: String) throws(FileError) {
        let subject = "save into \(path)"
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw FileError(error, subject: subject)
        }
        guard FileManager.default.isWritableFile(atPath: path) else {
            throw FileError(POSIXError(.EACCES), subject: subject)
        }
    }

    private func start(_ solutions: [Solution]) async throws -> Sandbox {
        do {
            return try await Sandbox.start(solutions, configuration: sandboxConfiguration)
        } catch let error as Sandbox.PortError {
            throw PortAdvice(error: error)
        }
    }

    func solutions() throws -> [Solution] {
        var solutions = try solution.map { try Solution.load(from: URL(fileURLWithPath: $0)) }
        if solutions.isEmpty {
            guard Solution.sampleIsInstalled else {
                throw CommandError(
                    "The sample database is missing: copy the folder FMData_FMSandbox.resources beside this program, "
                        + "or name a solution with --solution."
                )
            }
            solutions = [.sample]
        }
        guard let user, let password = accountPassword else { return solutions }
        return solutions.map { solution in
            var solution = solution
            solution.accounts.removeAll { $0.name.lowercased() == user.lowercased() }
            solution.accounts.append(Solution.Account(name: user, password: password))
            return solution
        }
    }

    var sandboxConfiguration: Sandbox.Configuration {
        var configuration = Sandbox.Configuration()
        configuration.tls = tls
        configuration.port = port
        configuration.maximumSessions = maxSessions
        if let certificate, let key {
            configuration.certificate = .files(certificate: certificate, key: key)
        }
        configuration.clock = AdjustableClock()
        configuration.timeZone = timeZone
        configuration.sessionLifetime = sessionLifetime
        configuration.keepAlive = keepAlive
        configuration.compression = compression
        if loginAttempts > 0 { configuration.loginThrottling = .init(attempts: loginAttempts) }
        if latency > 0 { configuration.latency = .milliseconds(latency) }
        configuration.serverVersion = serverVersion.flatMap(Sandbox.ServerVersion.init)
        configuration.findPastEnd = findPastEnd
        configuration.dataSourceWithoutAccount = dataSourceWithoutAccount
        if ignoreNameCase { configuration.ignoresNameCase = true }
        if openContainers { configuration.containerStreaming = .open }
        if verbose { configuration.logger = Sandbox.standardErrorLogger }
        return configuration
    }
}

extension Duration {
    /// Parses seconds, more than 0 and at most a year.
    init?(seconds text: String) {
        guard let seconds = Double(text), seconds > 0, seconds <= 31_536_000 else { return nil }
        self = .seconds(seconds)
    }
}

/// A port that cannot be used, with advice.
private struct PortAdvice: Error, CustomStringConvertible {
    let error: Sandbox.PortError

    var description: String { "\(error). Choose another one, or let the system choose: --port 0" }
}
