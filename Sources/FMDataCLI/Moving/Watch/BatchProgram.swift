import Foundation

/// A program that takes a batch of changes.
enum BatchProgram {
    /// Runs the program with a text on its standard input. Throws if it does not end with status 0. A cancelled task
    /// ends it by SIGTERM.
    static func run(_ words: [String], input: Data) async throws {
        guard let name = words.first else { return }
        let ends = Pipe()
        let id: pid_t
        do {
            id = try spawn(words, input: ends.fileHandleForReading)
        } catch {
            throw CommandError("\(name) cannot be started: \(String(cString: strerror(error.code.rawValue))).")
        }
        let running = Running(id: id)
        let input = Input(end: ends.fileHandleForWriting, text: input)
        let status = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    input.write()
                    continuation.resume(returning: running.wait())
                }
            }
        } onCancel: {
            running.end()
        }
        try Task.checkCancellation()
        guard status == 0 else {
            throw CommandError("\(name) ended with status \(status). Its changes come again in the next run.")
        }
    }

    /// Starts the program, which is looked for as a shell does. It handles signals as a program of a shell does:
    /// Foundation's `Process` would leave them blocked, as they are on the threads here, and NIO ignores SIGPIPE.
    private static func spawn(_ words: [String], input: FileHandle) throws(POSIXError) -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        var texts = words.map { strdup($0) } + [nil]
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            for text in texts { free(text) }
            try? input.close()
        }
        // No connection to the host is the program's, and no end of its input.
        for number in (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd"))?.compactMap({ Int32($0) }) ?? []
        where number > STDERR_FILENO {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
        posix_spawn_file_actions_adddup2(&actions, input.fileDescriptor, STDIN_FILENO)
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var id = pid_t()
        let error = posix_spawnp(&id, words[0], &actions, &attributes, &texts, environ)
        guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
        return id
    }

    /// The program, until its end has been noticed: afterwards its id may be that of another one.
    private struct Running: Sendable {
        let id: pid_t
        private let hasEnded = LockedValue(false)

        init(id: pid_t) { self.id = id }

        func end() {
            hasEnded.change { if !$0 { kill(id, SIGTERM) } }
        }

        /// The status of its end; that of a shell if a signal has ended it.
        func wait() -> Int32 {
            // It stays in the table of processes until `waitpid` has returned its status.
            var info = siginfo_t()
            while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            return hasEnded.change { hasEnded in
                hasEnded = true
                var word: Int32 = 0
                while waitpid(id, &word, 0) == -1, errno == EINTR {}
                let signal = word & 0x7F
                return signal == 0 ? word >> 8 & 0xFF : 128 + signal
            }
        }
    }

    private struct Input: @unchecked Sendable {
        // @unchecked: one thread uses it.
        let end: FileHandle
        let text: Data

        func write() {
            // A program may end without reading everything.
            try? end.write(contentsOf: text)
            try? end.close()
        }
    }
}
