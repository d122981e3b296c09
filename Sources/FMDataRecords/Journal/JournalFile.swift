import Dispatch
import FMDataCore
import Foundation

/// The lines of a journal in a file. Everything that touches the disk runs on a queue of its own, so that no event loop
/// and no subscriber waits for it.
final class JournalFile: JournalStorage {
    private let queue = DispatchQueue(label: "FMData.journal")
    /// Used on the queue only, so that nobody waits for the lock.
    private let file: Guarded<OpenFile>

    init(path: String) {
        file = Guarded(OpenFile(path: path))
    }

    deinit {
        file.withLock { $0.close() }
    }

    func load(_ done: @escaping Done<JournalReading>) {
        run(done) { file throws(DataAPI.WriteJournalError) in try file.read() }
    }

    func look(_ done: @escaping Done<JournalReading>) {
        run(done) { file throws(DataAPI.WriteJournalError) in try file.look() }
    }

    func append(_ lines: [String], isUrgent: Bool, _ done: @escaping Done<Void>) {
        run(done) { file throws(DataAPI.WriteJournalError) in try file.write(lines, isUrgent: isUrgent) }
    }

    func close(_ done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            file.withLock { file in
                if file.isOpen { _ = file.synchronize() }
                file.close()
            }
            done()
        }
    }

    private func run<Value: Sendable>(
        _ done: @escaping Done<Value>,
        _ work: @escaping @Sendable (inout OpenFile) throws(DataAPI.WriteJournalError) -> Value
    ) {
        queue.async { [self] in
            done(
                file.withLock { file in
                    Result(catching: { () throws(DataAPI.WriteJournalError) in try work(&file) })
                }
            )
        }
    }
}

/// A journal on the disk, opened by the first reading.
private struct OpenFile {
    private static let lockAttempts = 400

    let path: String
    private var file: Int32 = -1
    /// Where the next line begins.
    private var end = 0

    init(path: String) {
        self.path = path
    }

    var isOpen: Bool { file >= 0 }

    /// Closes it, which releases the lock.
    mutating func close() {
        guard isOpen else { return }
        closeDescriptor(file)
        file = -1
    }

    mutating func read() throws(DataAPI.WriteJournalError) -> JournalReading {
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let isNew = file >= 0
        if !isNew { file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        guard file >= 0 else { throw failure(errno) }
        try takeLock()
        var (reading, count) = try whole()
        reading.wasEmptied = count == 0 && !isNew
        end = count - reading.cutBytes
        if reading.cutBytes > 0 {
            guard ftruncate(file, off_t(end)) == 0, synchronize() else { throw failure(errno) }
        }
        // Without its folder on the disk, a new file and its contents can be lost. An earlier run that created the file
        // may have been killed before it synchronized the folder; then it has not begun the journal.
        if reading.state == nil { try synchronizeFolder() }
        return reading
    }

    /// Reads it as it is, whoever has it open.
    mutating func look() throws(DataAPI.WriteJournalError) -> JournalReading {
        file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(errno) }
        defer { close() }
        return try whole().reading
    }

    private func whole() throws(DataAPI.WriteJournalError) -> (reading: JournalReading, count: Int) {
        var info = stat()
        guard fstat(file, &info) == 0 else { throw failure(errno) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw DataAPI.WriteJournalError(.notAJournal, detail: path) }
        let bytes: [UInt8]
        do {
            bytes = try Array(
                FileHandle(fileDescriptor: file, closeOnDealloc: false).readToEnd() ?? Data()
            )
        } catch {
            throw DataAPI.WriteJournalError(.storage, detail: path)
        }
        do throws(DataAPI.WriteJournalError) {
            return (try JournalReading(bytes), bytes.count)
        } catch {
            var error = error
            error.detail = path
            throw error
        }
    }

    mutating func write(_ lines: [String], isUrgent: Bool) throws(DataAPI.WriteJournalError) {
        var bytes: [UInt8] = []
        for line in lines {
            bytes += line.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                guard let start = buffer.baseAddress else { preconditionFailure("some bytes are not written yet") }
                return pwrite(file, start + written, buffer.count - written, off_t(end + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = failure(errno)
                // A line that is half written would look like damage once another one follows it.
                ftruncate(file, off_t(end))
                throw error
            }
            written += count
        }
        end += bytes.count
        if isUrgent, !synchronize() { throw failure(errno) }
    }

    func synchronize() -> Bool {
        #if canImport(Darwin)
        // fsync leaves the data in the drive's cache there.
        return fcntl(file, F_FULLFSYNC) == 0 || fsync(file) == 0
        #else
        return fdatasync(file) == 0
        #endif
    }

    private func synchronizeFolder() throws(DataAPI.WriteJournalError) {
        let folder = open((path as NSString).deletingLastPathComponent.nonEmpty ?? ".", O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(errno) }
        defer { closeDescriptor(folder) }
        // Some file systems have no sync for folders.
        guard fsync(folder) == 0 || errno == EINVAL else { throw failure(errno) }
    }

    /// Waits for two seconds at most: a run that was just cancelled is about to release the lock.
    private func takeLock() throws(DataAPI.WriteJournalError) {
        for _ in 0..<Self.lockAttempts {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure(errno) }
            usleep(5_000)
        }
        throw DataAPI.WriteJournalError(.inUse, detail: path)
    }

    private func failure(_ number: Int32) -> DataAPI.WriteJournalError {
        DataAPI.WriteJournalError(.storage, detail: path, errorNumber: number)
    }
}

/// The system's `close`, which a method of that name hides.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
