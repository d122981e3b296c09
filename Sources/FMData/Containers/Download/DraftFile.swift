import Foundation

/// A new file that replaces another one when it is complete. If it is released before, it is deleted.
final class DraftFile {
    private let path: String
    private let draftPath: String
    private let handle: FileHandle
    private var isPublished = false

    /// - Parameter path: The final path of the file. The draft is in the same folder, so that both are on one disk.
    init(for path: String) throws(DataAPI.ContainerError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let draftPath = folder.appendingPathComponent(".fmdata-\(UUID().uuidString)").path
        // O_EXCL: an existing file or link at that path is never written to.
        let descriptor = open(draftPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        self.path = path
        self.draftPath = draftPath
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit {
        if !isPublished { unlink(draftPath) }
    }

    func write(_ bytes: Data) throws(DataAPI.ContainerError) {
        do {
            try handle.write(contentsOf: bytes)
        } catch {
            throw DataAPI.ContainerError(.unwritable, detail: "The file \(path) cannot be written.")
        }
    }

    /// Moves the file to its final path, once it is stored on the disk.
    func publish() throws(DataAPI.ContainerError) {
        guard fsync(handle.fileDescriptor) == 0, rename(draftPath, path) == 0 else { throw Self.failure(path, errno) }
        isPublished = true
    }

    private static func failure(_ path: String, _ number: Int32) -> DataAPI.ContainerError {
        DataAPI.ContainerError(
            .unwritable,
            detail: "The file \(path) cannot be written: \(String(cString: strerror(number)))."
        )
    }
}
