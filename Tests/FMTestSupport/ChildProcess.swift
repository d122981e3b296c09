public import Foundation

/// A program that a test has started. It inherits only its standard streams: with a socket of another test it would
/// keep that connection open when the test closes it, and the other end would wait until the program ends.
///
/// Foundation's `Process` must not be used in a test program with more than some 1,300 open files: to find the highest
/// one it copies 256 bytes for each file's name, which for the last one may reach beyond the end of the memory.
public final class ChildProcess: Sendable {
    /// The process id.
    public let id: Int32

    private let status = Locked<Int32?>(nil)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - path: the path of the program.
    ///   - environment: the tests' own by default.
    ///   - input: the standard input, by default that of the tests. This and the next two are closed here, so that only
    ///     the program has them open.
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
        // NIO opens sockets without close-on-exec. What is opened until the program starts gets one of the next
        // numbers.
        let highest = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").compactMap { Int32($0) }.max() ?? 0
        for number in STDERR_FILENO + 1..<min(highest + 256, getdtablesize()) {
            posix_spawn_file_actions_addclose(&actions, number)
        }

        // Default signal handling, as a shell sets it: NIO ignores SIGPIPE in this process.
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

    /// Two connected ends, for a standard stream of one program: what is written to one is read from the other. The
    /// stream ends when the program does.
    public static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        // Foundation's `Pipe` would be inherited by programs that other tests start meanwhile, and would end with the
        // last of them.
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
        }
        let handles = ends.map { FileHandle(fileDescriptor: $0, closeOnDealloc: true) }
        return (handles[0], handles[1])
    }

    /// Whether the program is still running.
    public var isRunning: Bool { end(WNOHANG) == nil }

    /// Blocks this thread until the program has ended.
    ///
    /// - Returns: the exit status; if a signal ended the program, 128 plus the signal's number, like a shell.
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
