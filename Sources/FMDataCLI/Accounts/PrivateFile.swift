import FMModel
import Foundation

/// A file with secrets, which only its owner can read.
struct PrivateFile: Equatable, Sendable {
    let url: URL

    init(_ url: URL) { self.url = url }

    /// The file exists, but other users of the machine can read or replace it.
    struct NotPrivate: Error {}

    /// The content; nil if there is no such file.
    func read() throws -> Data? {
        let file = open(url.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP { throw NotPrivate() }
            throw FileError(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), subject: "read \(url.path)")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(),
            info.st_mode & 0o077 == 0
        else { throw NotPrivate() }
        return try FileError.telling("read \(url.path)") { try handle.readToEnd() ?? Data() }
    }

    /// Replaces the content. The file has its mode from the beginning, so that nobody can open it in between.
    func write(_ content: Data) throws(FileError) {
        try url.deletingLastPathComponent().createPrivateFolder()
        let draft = url.path + ".new"
        try FileError.telling("write \(url.path)") {
            unlink(draft)
            let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            do {
                let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
                try handle.write(contentsOf: content)
                try handle.synchronize()
                guard rename(draft, url.path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            } catch {
                unlink(draft)
                throw error
            }
        }
    }
}
