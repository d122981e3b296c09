import FMTestSupport
import Foundation
import Testing

/// A pseudo-terminal: a program uses one end, and the test types and reads at the other.
final class Terminal: Sendable {
    private let descriptor: Int32
    private let number: CInt
    private let received = Locked<[UInt8]>([])

    /// - Parameter columns: the width of the window.
    init(columns: Int = 80) throws {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(descriptor >= 0)
        self.descriptor = descriptor
        // `unlockpt` and `ptsname` are not available in Swift; these are the calls that they make: TIOCSPTLCK and
        // TIOCGPTN.
        var lock: CInt = 0
        var number: CInt = -1
        let isUnlocked = ioctl(descriptor, 0x4004_5431, &lock) == 0
        let isNumbered = ioctl(descriptor, 0x8004_5430, &number) == 0
        self.number = number
        try #require(isUnlocked && isNumbered)
        var size = winsize(ws_row: 40, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        let isSized = ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0
        try #require(isSized)
    }

    deinit { close(descriptor) }

    /// The program's end, opened anew, for one of its standard streams.
    func programsEnd() throws -> FileHandle {
        let program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(program >= 0)
        return FileHandle(fileDescriptor: program, closeOnDealloc: true)
    }

    /// Whether the terminal shows what is typed.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Types a line.
    func type(_ line: String) { press("\(line)\n") }

    /// Presses keys.
    func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Everything that was written to the terminal, at least up to a text, or to the end of the program.
    func text(until end: String) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: read(until: end)) }
        }
    }

    /// Everything that was written to the terminal until the program has ended, without the line of the progress, which
    /// appears when the machine is slow.
    func allText() async -> String {
        await text(until: "\u{0}").replacing(#/\r\u{1B}\[K[^\r\n]*(?=\r\u{1B}\[K)/#, with: "")
            .replacing("\r\u{1B}[K", with: "")
    }

    private func read(until end: String) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while !text.contains(end) {
            // The end of the program is an error here, EIO.
            let count = Foundation.read(descriptor, &bytes, bytes.count)
            guard count > 0 else { break }
            received.change { $0 += bytes[..<count] }
        }
        return text
    }

    private var text: String { String(decoding: received.value, as: UTF8.self).replacing("\r\n", with: "\n") }
}
