import Foundation

extension DataAPI.TokenStore {
    /// A file that the processes of one user on one machine share.
    ///
    /// Only its owner can read it (mode 0600). A file that others can read, or that another user owns, is not used.
    /// Changes are made under a lock (a second file, with the suffix `.lock`) and take effect at once, by renaming. The
    /// file holds entries of several servers, databases and accounts, at most a thousand. One more replaces another
    /// entry, which costs that account a login. Content that cannot be parsed counts as empty and is overwritten.
    ///
    /// - Parameters:
    ///   - path: the file. Its folder must exist; choose one that only the owner can write to.
    ///   - onFailure: what happens to calls when the file cannot be used: its mode or owner is wrong, it cannot be
    ///     read, its folder cannot be written to, or another process keeps it locked for 2 seconds. The default is
    ///     ``FailurePolicy/fail``, since the cause is usually a wrong setup.
    public static func file(at path: String, onFailure: FailurePolicy = .fail) -> DataAPI.TokenStore {
        let file = TokenFile(path: path)
        return DataAPI.TokenStore(
            onFailure: onFailure,
            load: { key in try await file.change { entries in entries[key.description] } },
            save: { token, key in
                try await file.change { entries in
                    let isFree = entries[key.description].map { $0 == token } ?? true
                    guard isFree else { return false }
                    let isFull = entries[key.description] == nil && entries.count >= TokenFile.maximumEntries
                    if isFull, let other = entries.keys.first { entries[other] = nil }
                    entries[key.description] = token
                    return true
                }
            },
            remove: { token, key in
                try await file.change { entries in
                    if entries[key.description] == token { entries[key.description] = nil }
                }
            }
        )
    }
}

/// Why a token file was not used.
struct TokenFileError: Error, Equatable, CustomStringConvertible {
    enum Reason: String {
        case notPrivate = "it is not a file that only its owner can read"
        case tooLarge = "it is too large"
        case locked = "another process has kept it locked"
        case system = "the system refused"
    }

    let path: String
    let reason: Reason
    var errorNumber: Int32 = 0

    var description: String {
        "The token file \(path) is not used: \(reason.rawValue)"
            + (errorNumber == 0 ? "." : " (\(String(cString: strerror(errorNumber)))).")
    }
}

private struct TokenFile: Sendable {
    /// A thousand entries stay well below `maximumBytes`, even with the longest database names.
    static let maximumEntries = 1000
    private static let maximumBytes = 1 << 20
    private static let lockAttempts = 400

    let path: String

    /// Reading takes the lock as well, so that an unwritable folder is noticed before a session has been opened.
    func change<Result>(_ body: (inout [String: String]) -> Result) async throws -> Result {
        let lock = try await takeLock()
        defer { close(lock) }
        let before = try readEntries()
        var entries = before
        let result = body(&entries)
        if entries != before { try write(entries) }
        return result
    }

    private func readEntries() throws -> [String: String] {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return [:] }
            throw failure(errno == ELOOP ? .notPrivate : .system, errno)
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { throw failure(.system, errno) }
        guard info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
            throw failure(.notPrivate)
        }
        guard info.st_size <= Self.maximumBytes else { throw failure(.tooLarge) }
        let data = FileHandle(fileDescriptor: file, closeOnDealloc: false).readData(ofLength: Self.maximumBytes)
        return (try? JSONDecoder().decode([String: String].self, from: data)) ?? [:]
    }

    /// Called under the lock, so no other process uses the draft's name.
    private func write(_ entries: [String: String]) throws {
        let draft = path + ".new"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(.system, errno) }
        do {
            defer { close(file) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try FileHandle(fileDescriptor: file, closeOnDealloc: false).write(contentsOf: encoder.encode(entries))
        } catch {
            unlink(draft)
            throw error
        }
        guard rename(draft, path) == 0 else { throw failure(.system, errno) }
    }

    /// Waits at most two seconds: other processes hold the lock only for one small write.
    private func takeLock() async throws -> Int32 {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw failure(.system, errno) }
        var number: Int32 = 0
        for _ in 0..<Self.lockAttempts {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return lock }
            number = errno
            guard number == EWOULDBLOCK || number == EINTR else { break }
            try? await Task.sleep(for: .milliseconds(5))
        }
        close(lock)
        throw number == EWOULDBLOCK ? failure(.locked) : failure(.system, number)
    }

    private func failure(_ reason: TokenFileError.Reason, _ number: Int32 = 0) -> TokenFileError {
        TokenFileError(path: path, reason: reason, errorNumber: number)
    }
}
