import Foundation
import NIOCore
import NIOFoundationCompat
import OpenCombine

/// The body of an upload: one part named `upload`, by [RFC 7578](https://www.rfc-editor.org/rfc/rfc7578).
///
/// The text before and after the bytes, and so the total length, is known before anything is sent. The bytes are passed
/// between them unchanged and unbuffered. The server ignores parts of any other name, so there are none; `modId` is
/// sent in the URL.
package struct MultipartForm: Sendable {
    /// The value of `Content-Type`.
    let contentType: String
    /// The text before the bytes.
    let prefix: ByteBuffer
    /// The text after the bytes.
    let suffix: ByteBuffer
    /// The exact number of bytes of the whole body.
    let contentLength: Int

    private let file: FMRest.ContainerFile
    private let observer: DataAPI.ProgressObserver?

    /// - Parameters:
    ///   - file: The file to upload.
    ///   - observer: Called with the number of bytes passed to the connection.
    ///   - generator: The source of the boundary around a stream. The boundary around bytes in memory is computed from
    ///     these bytes, so that equal uploads are equal requests.
    /// - Throws: When the name, the type or the length of the file cannot be sent.
    init(
        _ file: FMRest.ContainerFile,
        observer: DataAPI.ProgressObserver? = nil,
        using generator: inout some RandomNumberGenerator
    ) throws(FMRest.ContainerFileError) {
        let boundary =
            switch file.source {
            case .data(let data): Self.boundary(notIn: data)
            case .file, .stream: Self.randomBoundary(using: &generator)
            }
        let prefix = """
            --\(boundary)\r
            Content-Disposition: form-data; name="upload"; filename="\(try Self.escaped(fileName: file.fileName))"\r
            Content-Type: \(try Self.checked(mimeType: file.mimeType))\r
            \r

            """
        let suffix = "\r\n--\(boundary)--\r\n"
        self.contentType = "multipart/form-data; boundary=\(boundary)"
        self.prefix = ByteBuffer(string: prefix)
        self.suffix = ByteBuffer(string: suffix)
        let (length, overflow) = file.length.addingReportingOverflow(prefix.utf8.count + suffix.utf8.count)
        guard file.length >= 0, !overflow else {
            throw FMRest.ContainerFileError(.invalidLength, "A file of \(file.length) bytes cannot be sent.")
        }
        self.contentLength = length
        self.file = file
        self.observer = observer
    }

    /// Whether the body can be sent a second time.
    var isReplayable: Bool { file.isReplayable }

    /// The whole body, chunk by chunk on demand. Each subscription reads the file again.
    func chunks() -> AnyPublisher<ByteBuffer, any Error> {
        let content = observer.map(file.chunks(reportingTo:)) ?? file.chunks()
        return content.map { ByteBuffer(data: $0) }.prepend(prefix).append(suffix).eraseToAnyPublisher()
    }
}

// MARK: - Header values

extension MultipartForm {
    /// A file name as the quoted value of `filename`: unencoded UTF-8 (RFC 7578 §5.1; the encoded form `filename*` is
    /// forbidden by §4.2), with a backslash before each quote and backslash (RFC 9110 §5.6.4). Browsers encode a quote
    /// as `%22` but leave a percent sign as it is, so not every name could be decoded. A line break would end the
    /// header, and is refused.
    static func escaped(fileName: String) throws(FMRest.ContainerFileError) -> String {
        guard !fileName.isEmpty, !fileName.unicodeScalars.contains(where: { "\0\r\n".unicodeScalars.contains($0) })
        else {
            throw FMRest.ContainerFileError(
                .invalidFileName,
                "A file name must not be empty, and not contain a line break or NUL."
            )
        }
        var escaped = String.UnicodeScalarView()
        for scalar in fileName.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }

    private static func checked(mimeType: String) throws(FMRest.ContainerFileError) -> String {
        guard MIMEType.isValid(mimeType) else {
            // The text is not part of the error: an invalid one may be anything, even as large as a file.
            throw FMRest.ContainerFileError(.invalidMIMEType, "A media type must look like \"image/jpeg\".")
        }
        return mimeType
    }
}

// MARK: - Boundaries

extension MultipartForm {
    /// A boundary that does not occur in the bytes. It is computed from them and the number of the attempt, so that a
    /// file that contains the boundary of one attempt is unlikely to contain those of the next attempts.
    static func boundary(notIn data: Data, candidate: (Data, UInt64) -> String = hashed) -> String {
        var attempt: UInt64 = 0
        while true {
            let boundary = candidate(data, attempt)
            if data.range(of: Data(boundary.utf8)) == nil { return boundary }
            attempt += 1
        }
    }

    /// FNV-1a of the attempt and the bytes: short and well mixed; it need not be hard to invert.
    static func hashed(_ data: Data, attempt: UInt64) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ attempt
        for byte in data {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        return "FMData-" + hexadecimal(hash)
    }

    /// A boundary of 128 random bits, which can be neither met by chance nor predicted.
    static func randomBoundary(using generator: inout some RandomNumberGenerator) -> String {
        "FMData-" + hexadecimal(generator.next()) + hexadecimal(generator.next())
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
