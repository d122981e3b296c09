import FMModel
import Foundation

/// A file that is written little by little, and has its name only when it is complete: until then it is `name.part`.
///
/// Nobody else writes the same part meanwhile. What is written waits in memory until it is worth a call of the system.
///
/// What is no file is written into, as `cp` does.
final class PartFile {
    /// Where a name leads to: the target of a link is written, and not the link.
    struct Target {
        /// The complete file, or the device or pipe.
        let path: String
        /// Whether it is a device or a pipe, which has neither a part nor an end.
        let isStream: Bool

        /// Throws for a folder, a link that leads nowhere, and a file that is there and not to be replaced.
        init(_ path: String, replaces: Bool) throws {
            var info = stat()
            guard stat(path, &info) == 0 else {
                if lstat(path, &info) == 0 { throw CommandError("\(path) is a link that leads nowhere.") }
                (self.path, isStream) = (path, false)
                return
            }
            let kind = info.st_mode & S_IFMT
            if kind == S_IFDIR { throw CommandError("\(path) is a folder.") }
            isStream = kind != S_IFREG
            guard replaces || isStream else { throw PartFile.exists(path) }
            let isLink = lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
            // The file gets its name by a rename, which would replace a link.
            self.path = isLink && !isStream ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
        }
    }

    /// Where the complete file is.
    var path: String { target.path }
    /// The bytes written so far, with those that wait.
    private(set) var byteCount: Int
    private let target: Target
    private let descriptor: Int32
    private let replaces: Bool
    private let isTerminal: Bool
    private var waiting: [UInt8] = []

    private static let capacity = 256 << 10

    /// The name of an incomplete file.
    static func part(of path: String) -> String { path + ".part" }

    convenience init(_ path: String, replaces: Bool) throws {
        try self.init(Target(path, replaces: replaces), replaces: replaces)
    }

    /// Opens the part, or what is no file. Throws if another program writes it.
    ///
    /// - Parameters:
    ///   - replaces: Whether a complete file of that name is replaced.
    ///   - length: How many bytes of an earlier part are kept; the rest is cut off.
    init(_ target: Target, replaces: Bool, keeping length: Int = 0) throws {
        self.target = target
        self.replaces = replaces
        byteCount = length
        guard !target.isStream else {
            descriptor = try Self.openStream(target.path)
            isTerminal = isatty(descriptor) != 0
            return
        }
        isTerminal = false
        let part = Self.part(of: target.path)
        let file = try Self.openPart(part)
        func closing(_ error: any Error) -> any Error {
            close(file)
            return error
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            throw closing(CommandError("\(part): another program is writing it."))
        }
        let size = lseek(file, 0, SEEK_END)
        guard size >= off_t(length) else {
            throw closing(
                CommandError("\(part) has \(size) bytes, and \(length) were noted. Begin anew, without --resume.")
            )
        }
        guard ftruncate(file, off_t(length)) == 0, lseek(file, 0, SEEK_END) >= 0 else {
            throw closing(Self.failure(target.path))
        }
        // A file that others may not read stays one.
        var info = stat()
        if stat(target.path, &info) == 0 { fchmod(file, info.st_mode & 0o777) }
        descriptor = file
    }

    /// Opens the part of an earlier run, or a new one: nothing else of that name, which somebody may have put there.
    private static func openPart(_ part: String) throws -> Int32 {
        let flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        var file = open(part, flags)
        if file < 0, errno == ENOENT { file = open(part, flags | O_CREAT | O_EXCL, 0o666) }
        if file < 0, errno == ELOOP { throw CommandError("\(part) is a link, and not followed. Remove it.") }
        guard file >= 0 else { throw failure(part) }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1 else {
            close(file)
            throw CommandError("\(part) is no file, or has another name as well. Remove it.")
        }
        return file
    }

    /// Opens a device or a pipe. A pipe waits for its reader.
    private static func openStream(_ path: String) throws -> Int32 {
        while true {
            let file = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            if file >= 0 { return file }
            var info = stat()
            let error = errno
            guard error == ENXIO, stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFIFO else {
                errno = error
                throw failure(path)
            }
            // The wait is short, so that Ctrl-C is noticed.
            try Task.checkCancellation()
            usleep(50_000)
        }
    }

    deinit { close(descriptor) }

    func write(_ text: String) throws {
        let before = waiting.count
        waiting += (isTerminal ? text.harmless : text).utf8
        byteCount += waiting.count - before
        if waiting.count >= Self.capacity { try flush() }
    }

    /// Writes what waits, so that it outlives the program.
    func flush() throws {
        defer { waiting.removeAll(keepingCapacity: true) }
        try StandardOutput.write(waiting, to: descriptor, of: path)
    }

    /// Writes what waits, and the bytes of a file are on the disk when this returns.
    func synchronize() throws {
        try flush()
        guard target.isStream || fsync(descriptor) == 0 else { throw Self.failure(path) }
    }

    /// Gives the file its name. It is on the disk when this returns.
    func finish() throws {
        try synchronize()
        if target.isStream { return }
        let part = Self.part(of: path)
        // `link` fails if there is such a file by now, and `rename` replaces it.
        guard replaces ? rename(part, path) == 0 : link(part, path) == 0 else {
            throw errno == EEXIST ? Self.exists(path) : Self.failure(path)
        }
        if !replaces { unlink(part) }
        // The name is on the disk when its folder is.
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    /// Removes the part.
    func discard() { if !target.isStream { unlink(Self.part(of: path)) } }

    /// Removes a complete file and its part, but nothing that is no file.
    static func remove(_ path: String) {
        guard let target = try? Target(path, replaces: true), !target.isStream else { return }
        unlink(target.path)
        unlink(part(of: target.path))
    }

    private static func exists(_ path: String) -> CommandError {
        CommandError("\(path) is there already: --force replaces it.")
    }

    private static func failure(_ path: String) -> FileError {
        FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "write \(path)")
    }
}
