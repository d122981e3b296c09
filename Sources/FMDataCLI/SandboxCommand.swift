import ArgumentParser
import Dispatch
import FMSandbox
import Foundation

/// `fmdata sandbox`: a FileMaker Data API server on loopback, for tests in any language and for work without a server.
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Serves the FileMaker Data API on loopback, out of memory.",
        discussion: """
            Prints its base URL on one line when it is ready, and ends on SIGINT or SIGTERM. Without --solution it hosts \
            the sample database World (account admin, password secret).
            """
    )

    @Option(help: "The port to listen on; 0 lets the system choose.")
    var port = 0

    @Flag(help: "Speak TLS. The file of the certificate authority is printed on a second line.")
    var tls = false

    @Option(help: ArgumentHelp("A solution file to host; may be given several times.", valueName: "file"))
    var solution: [String] = []

    @Option(help: "How many sessions may be open at once.")
    var maxSessions = 500

    @Option(help: "How many wrong passwords in a row lock an account for five minutes; 0 for never.")
    var loginAttempts = 0

    @Option(help: ArgumentHelp("Hold every answer back for this many milliseconds.", valueName: "ms"))
    var latency = 0

    @Option(help: "The FileMaker Server release to imitate: 17, 18, 19 or 22.")
    var serverVersion = 22

    @Option(help: "An account to add to every database, with full access.")
    var user: String?

    @Option(help: "The password of the account to add.")
    var password = ""

    @Flag(help: "Serve containers without the session's token (server preference AuthenticatedStream=2).")
    var openContainers = false

    @Option(
        help: ArgumentHelp(
            """
            Let something go wrong once: [endpoint:]fault[*count], for example find:html502, reset, cut100, delay250, \
            expireToken, restart, fullHost, brokenJSON. May be given several times.
            """,
            valueName: "fault"
        )
    )
    var fault: [FaultArgument] = []

    @Option(help: ArgumentHelp("Write the records as they are at the end into this folder.", valueName: "folder"))
    var save: String?

    @Flag(name: .shortAndLong, help: "Log every request to standard error.")
    var verbose = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
        guard maxSessions >= 0 else { throw ValidationError("--max-sessions takes no negative number.") }
        guard loginAttempts >= 0 else { throw ValidationError("--login-attempts takes no negative number.") }
        guard (0...3_600_000).contains(latency) else { throw ValidationError("--latency takes 0 to 3600000.") }
        guard Sandbox.ServerVersion(rawValue: serverVersion) != nil else {
            throw ValidationError("--server-version takes 17, 18, 19 or 22.")
        }
    }

    func run() async throws {
        let sandbox = try await Sandbox.start(try solutions(), configuration: configuration)
        for argument in fault { sandbox.inject(argument.rule) }
        print(sandbox.url)
        if tls { print("CA: \(Sandbox.certificateAuthorityFile)") }
        // A program that waits for the URL reads a pipe, which standard output would fill before it sends anything.
        fflush(nil)
        await Signals.firstInterruption()
        await sandbox.stop()
        if let save { try sandbox.save(to: URL(fileURLWithPath: save, isDirectory: true)) }
    }

    private func solutions() throws -> [Solution] {
        var solutions = try solution.map { try Solution.load(from: URL(fileURLWithPath: $0)) }
        if solutions.isEmpty { solutions = [.sample] }
        guard let user else { return solutions }
        return solutions.map { solution in
            var solution = solution
            solution.accounts.removeAll { $0.name.lowercased() == user.lowercased() }
            solution.accounts.append(Solution.Account(name: user, password: password))
            return solution
        }
    }

    private var configuration: Sandbox.Configuration {
        var configuration = Sandbox.Configuration(tls: tls, port: port, maximumSessions: maxSessions)
        if loginAttempts > 0 { configuration.loginThrottling = .init(attempts: loginAttempts) }
        if latency > 0 { configuration.latency = .milliseconds(latency) }
        if let version = Sandbox.ServerVersion(rawValue: serverVersion) { configuration.serverVersion = version }
        if openContainers { configuration.containerStreaming = .open }
        if verbose { configuration.logger = Sandbox.standardErrorLogger }
        return configuration
    }
}

/// A fault on the command line: `find:html502*2`.
struct FaultArgument: ExpressibleByArgument {
    let rule: Sandbox.FaultRule

    init?(argument: String) {
        var text = argument[...]
        var count: Int? = 1
        if let star = text.lastIndex(of: "*") {
            guard let number = Int(text[text.index(after: star)...]), number > 0 else { return nil }
            count = number
            text = text[..<star]
        }
        var endpoint: Sandbox.Endpoint?
        if let colon = text.firstIndex(of: ":") {
            guard let named = Sandbox.Endpoint(rawValue: String(text[..<colon])) else { return nil }
            endpoint = named
            text = text[text.index(after: colon)...]
        }
        guard let fault = Self.fault(String(text)) else { return nil }
        rule = Sandbox.FaultRule(fault, on: endpoint, count: count)
    }

    private static func fault(_ text: String) -> Sandbox.Fault? {
        let name = String(text.prefix { $0.isLetter })
        let digits = text.dropFirst(name.count)
        let number = Int(digits)
        guard digits.isEmpty || digits.allSatisfy(\.isNumber) && number != nil else { return nil }
        switch (name, number) {
        case ("expireToken", nil): return .expireToken
        case ("reset", nil): return .reset
        case ("resetAfterExecution", nil): return .resetAfterExecution
        case ("restart", nil): return .restart
        case ("fullHost", nil): return .fullHost
        case ("brokenJSON", nil): return .brokenJSON
        case ("html", let status): return isStatus(status ?? 502) ? .html(status: status ?? 502) : nil
        case ("empty", let status): return isStatus(status ?? 503) ? .empty(status: status ?? 503) : nil
        case ("delay", let milliseconds?): return .delay(.milliseconds(milliseconds))
        case ("cut", let bytes): return .cut(afterBodyBytes: bytes ?? 0)
        case ("error", let code?): return .error(FileMakerError(code))
        default: return nil
        }
    }

    /// Statuses of final answers; one below 200 would leave the client waiting for another.
    private static func isStatus(_ number: Int) -> Bool { (200...599).contains(number) }
}

/// Waits for SIGINT or SIGTERM.
private enum Signals {
    static func firstInterruption() async {
        let signals = [SIGINT, SIGTERM]
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        for await _ in stream { break }
        for source in sources { source.cancel() }
    }
}
