import Foundation

/// A program that the command has started, such as a pager, or one that prints a password.
///
/// It belongs to the terminal's foreground like the command itself, so it may ask there. Foundation's `Process` gives
/// each program a process group of its own, which the terminal would stop.
struct ChildProgram: Sendable {
    private let id: pid_t
    /// Whether its end has been noticed: afterwards its id may be that of another one.
    private let hasEnded = LockedValue(false)

    /// Starts a program, which is looked for in `PATH`. Signals have their default effect in it, and nothing that is
    /// open here is open there, such as the connection to the host.
    ///
    /// - Parameters:
    ///   - words: its name and its arguments.
    ///   - variables: what its environment says beside that of the command.
    ///   - input: its standard input; that of the command by default.
    ///   - output: its standard output; that of the command by default.
    init(
        _ words: [String],
        variables: [String: String] = [:],
        input: Int32 = STDIN_FILENO,
        output: Int32 = STDOUT_FILENO
    ) throws(POSIXError) {
        #if canImport(Darwin)
        var (actions, attributes) = (posix_spawn_file_actions_t(nil), posix_spawnattr_t(nil))
        #else
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number in (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd"))?.compactMap({ Int32($0) }) ?? []
        where number > STDERR_FILENO {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
        for (descriptor, number) in [(input, STDIN_FILENO), (output, STDOUT_FILENO)] where descriptor != number {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // NIO ignores SIGPIPE in this process, and an ignored signal stays so in a program that it starts.
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        var texts = words.map { strdup($0) } + [nil]
        var settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in texts + settings { free(text) } }
        var id = pid_t()
        let error = posix_spawnp(&id, words.first ?? "", &actions, &attributes, &texts, &settings)
        guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
        self.id = id
    }

    /// A pipe whose ends only those programs inherit that get them as standard streams.
    static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    func terminate() {
        hasEnded.change { if !$0 { kill(id, SIGTERM) } }
    }

    /// Waits for the end of the program, on a thread of its own.
    ///
    /// - Returns: its exit status; 128 plus the number of the signal that has ended it, as in a shell.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // It stays in the table of processes until `waitpid` has returned its status.
                var info = siginfo_t()
                while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
                let status = hasEnded.change { hasEnded -> Int32 in
                    hasEnded = true
                    var word: Int32 = 0
                    var found = waitpid(id, &word, 0)
                    while found == -1, errno == EINTR { found = waitpid(id, &word, 0) }
                    let signal = word & 0x7F
                    return found != id ? -1 : signal == 0 ? word >> 8 & 0xFF : 128 + signal
                }
                continuation.resume(returning: status)
            }
        }
    }
}
