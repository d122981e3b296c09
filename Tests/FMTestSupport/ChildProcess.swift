public import Foundation

/// A program that a test has started. Of what is open here it has its standard streams alone, as long as everything else was opened
/// to be closed in programs, as ``pipe()`` is.
///
/// Foundation's `Process` is not for a test program with more than some 1,300 open files: to find the highest it copies 256 bytes for
/// the name of each, which for the last one may lie beyond the end of the memory.
public final class ChildProcess: Sendable {
    /// The number of its process.
    public let id: Int32

    private let status = Locked<Int32?>(nil)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - environment: that of the tests by default.
    ///   - input: what it reads, by default what the tests read. This and the next two are closed here: the program alone has them
    ///     from now on.
    public init(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: FileHandle? = nil,
        output: FileHandle? = nil,
        errors: FileHandle? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let streams = [input, output, errors]
        for (number, stream) in streams.enumerated() {
            guard let stream else { continue }
            posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(number))
        }

        // Signals as a shell's program has them: NIO ignores SIGPIPE here.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var texts = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in texts + variables { free(text) } }
        var id = pid_t()
        let error = posix_spawn(&id, path, &actions, &attributes, &texts, &variables)
        guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
        self.id = id
        for stream in streams { try? stream?.close() }
    }

    /// Two ends for a standard stream of one program: what is written to one is read from the other, and it ends with the program.
    public static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        // Foundation's `Pipe` is inherited by programs that other tests start meanwhile, and ends with the last of them.
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
        }
        let handles = ends.map { FileHandle(fileDescriptor: $0, closeOnDealloc: true) }
        return (handles[0], handles[1])
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool { end(WNOHANG) == nil }

    /// Waits on this thread until it has ended.
    ///
    /// - Returns: the status that it has given; of one that a signal has ended 128 and the signal's number, as a shell says it.
    @discardableResult
    public func waitUntilExit() -> Int32 { end(0) ?? -1 }

    private func end(_ options: Int32) -> Int32? {
        status.change { status in
            if status != nil { return }
            var word: Int32 = 0
            var found = waitpid(id, &word, options)
            while found == -1, errno == EINTR { found = waitpid(id, &word, options) }
            guard found == id else { return }
            let signal = word & 0x7F
            status = signal == 0 ? word >> 8 & 0xFF : 128 + signal
        }
        return status.value
    }
}
