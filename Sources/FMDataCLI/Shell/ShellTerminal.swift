import Foundation

/// The settings of the terminal while a line of the shell is typed. It edits the line itself, and hands it over at Tab
/// as well.
struct ShellTerminal: Sendable {
    private let usual: termios

    /// The terminal of standard input; nil if that is none.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) != 0, tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        usual = settings
    }

    /// The byte that the erase key sends.
    var erase: UInt8 { Self.key(VERASE, of: usual) }

    /// Sets the terminal for a line.
    ///
    /// - Parameter takesErase: Whether the erase key hands the line over, instead of erasing what was typed last.
    func prepare(takesErase: Bool) {
        var settings = usual
        settings.c_lflag |= tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        // The erase key takes a whole character, however many bytes it has.
        settings.c_iflag |= tcflag_t(IUTF8)
        Self.set(VEOL, to: UInt8(ascii: "\t"), of: &settings)
        if takesErase {
            Self.set(VEOL2, to: erase, of: &settings)
            Self.set(VERASE, to: Self.none, of: &settings)
        }
        // What is typed already is kept.
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// Sets the terminal as it was, for commands and for the time after the shell.
    func restore() {
        var settings = usual
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// The columns of its window.
    var columns: Int {
        var size = winsize()
        return ioctl(STDIN_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// The byte that stands for no key: `_POSIX_VDISABLE`.
    private static var none: UInt8 {
        #if canImport(Darwin)
        0xFF
        #else
        0
        #endif
    }

    private static func key(_ place: Int32, of settings: termios) -> UInt8 {
        withUnsafeBytes(of: settings.c_cc) { $0[Int(place)] }
    }

    private static func set(_ place: Int32, to byte: UInt8, of settings: inout termios) {
        withUnsafeMutableBytes(of: &settings.c_cc) { $0[Int(place)] = byte }
    }
}
