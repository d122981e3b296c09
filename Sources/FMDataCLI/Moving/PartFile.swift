import FMModel
import Foundation

/// A file that is written little by little, and has its name only when it is complete: until then it is `name.part`.
///
/// Nobody else writes the same part meanwhile. What is written waits in memory until it is worth a call of the system.
final class PartFile {
    /// The complete file.
    let path: String
    /// The bytes written so far, with those that wait.
    private(set) var byteCount: Int
    private let descriptor: Int32
    private let replaces: Bool
    private var waiting: [UInt8] = []

    private static let capacity = 256 << 10

    /// The name of an incomplete file.
    static func part(of path: String) -> String { path + ".part" }

    /// Opens the part. Throws if the complete file exists and is not to be replaced, or if another program writes it.
    ///
    /// - Parameters:
    ///   - replaces: Whether a complete file of that name is replaced.
    ///   - length: How many bytes of an earlier part are kept; the rest is cut off.
    init(_ path: String, replaces: Bool, keeping length: Int = 0) throws {
        guard replaces || !FileManager.default.fileExists(atPath: path) else { throw Self.exists(path) }
        let part = Self.part(of: path)
        let file = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.failure(path) }
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
            throw closing(Self.failure(path))
        }
        self.path = path
        self.replaces = replaces
        descriptor = file
        byteCount = length
    }

    deinit { close(descriptor) }

    func write(_ text: String) throws {
        let before = waiting.count
        waiting += text.utf8
        byteCount += waiting.count - before
        if waiting.count >= Self.capacity { try flush() }
    }

    /// Writes what waits, so that it outlives the program.
    func flush() throws {
        var start = 0
        defer { waiting.removeAll(keepingCapacity: true) }
        while start < waiting.count {
            let count = waiting[start...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                start += count
            } else if errno != EINTR {
                throw Self.failure(path)
            }
        }
    }

    /// Writes what waits, and the bytes are on the disk when this returns.
    func synchronize() throws {
        try flush()
        guard fsync(descriptor) == 0 else { throw Self.failure(path) }
    }

    /// Gives the file its name. It is on the disk when this returns.
    func finish() throws {
        try synchronize()
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
    func discard() { unlink(Self.part(of: path)) }

    private static func exists(_ path: String) -> CommandError {
        CommandError("\(path) is there already: --force replaces it.")
    }

    private static func failure(_ path: String) -> FileError {
        FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "write \(path)")
    }
}
