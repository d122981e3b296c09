import FMData
import FMHTTP
import FMModel
import Foundation

/// The SHA-256 of a file's content, in 64 hexadecimal digits.
struct FileDigest {
    private var digest = SHA256()

    mutating func add(_ bytes: some Collection<UInt8>) { digest.add(bytes) }

    /// Nothing can be added after that.
    mutating func text() -> String {
        digest.finish().hexadecimal
    }

    /// The digest of a file.
    static func text(ofFile path: String) throws -> String {
        try FileError.telling("read \(path)") {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            var digest = FileDigest()
            while let bytes = try file.read(upToCount: 1 << 20), !bytes.isEmpty { digest.add(bytes) }
            return digest.text()
        }
    }
}
