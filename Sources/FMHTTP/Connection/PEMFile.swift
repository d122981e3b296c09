#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An unusable file of the TLS options: its path and what is wrong with it.
struct PEMFileError: Error, CustomStringConvertible {
    let description: String
}

/// A certificate or a key of the TLS options, as bytes. Error texts show only the labels of its PEM blocks, never the
/// contents.
struct PEMSource {
    /// Its name in error texts: "the file "/etc/ssl/ca.pem"", or "the text" for bytes that the caller gave.
    private let name: String
    let bytes: [UInt8]

    init(_ source: TLSOptions.PEM) throws(PEMFileError) {
        switch source {
        case .file(let path):
            name = "the file \"\(path)\""
            do {
                bytes = try Self.contents(of: path)
            } catch {
                throw PEMFileError(
                    description: "\(name) cannot be read: \(ConnectionFailure.systemText(of: error.code))"
                )
            }
        case .bytes(let bytes):
            name = "the text"
            self.bytes = bytes
        }
    }

    /// The error when no certificate or key could be made of it.
    ///
    /// - Parameters:
    ///   - wanted: "certificate".
    ///   - label: how its PEM block begins or ends: "CERTIFICATE".
    func unusable(as wanted: String, label: String) -> PEMFileError {
        let found = labels
        if found.isEmpty { return PEMFileError(description: "\(name) holds no \(wanted) in PEM") }
        if found.contains(where: { $0.hasPrefix("ENCRYPTED") }) || isEncryptedOldStyle {
            return PEMFileError(description: "\(name) holds an encrypted \(wanted), and no passphrase opens it")
        }
        if found.contains(where: { $0.hasSuffix(label) }) {
            return PEMFileError(description: "\(name) holds a \(wanted) that cannot be read")
        }
        return PEMFileError(description: "\(name) holds no \(wanted) in PEM, but \(found.joined(separator: ", "))")
    }

    /// `CERTIFICATE` for `-----BEGIN CERTIFICATE-----`; labels are upper case letters, digits and spaces.
    private var labels: [String] {
        lines.compactMap { line in
            guard line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") else { return nil }
            let label = line.dropFirst(11).dropLast(5)
            return label.utf8.allSatisfy(\.isPEMLabel) ? String(label) : nil
        }
    }

    /// Whether it has the header of an encrypted key in the old format (RFC 1421 §4.6.1.1).
    private var isEncryptedOldStyle: Bool { lines.contains { $0.hasPrefix("Proc-Type: 4,ENCRYPTED") } }

    private var lines: [Substring] { String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) }

    private struct SystemError: Error {
        let code = errno
    }

    private static func contents(of path: String) throws(SystemError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError() }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += chunk[..<count] } else if errno != EINTR { throw SystemError() }
        }
    }
}

extension UInt8 {
    fileprivate var isPEMLabel: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), .space: true
        default: false
        }
    }
}
