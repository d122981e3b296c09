public import Foundation
public import OpenCombine

extension FMRest {
    /// A file for a container field: a name, a type and the bytes, which are in memory, in a file on disk, or published
    /// by a publisher.
    ///
    ///     let picture = FMRest.ContainerFile(fileName: "bow.jpg", mimeType: "image/jpeg", data: bytes)
    ///     let report = try FMRest.ContainerFile(contentsOf: "/srv/reports/2024.pdf")
    ///
    /// FileMaker accepts any type without checking it. If no type is given, it is inferred from the leading bytes, else
    /// from the name's extension; otherwise it is `application/octet-stream`.
    ///
    /// Source: Claris Data API guide, "Upload container data".
    public struct ContainerFile: Sendable {
        /// The name of the file in the container field: any text except an empty one or one with a line break or NUL.
        /// It is sent as UTF-8.
        public var fileName: String
        /// The media type that is sent with the bytes, such as `image/jpeg`.
        public var mimeType: String

        let source: Source

        /// Makes a file of bytes in memory.
        ///
        /// - Parameters:
        ///   - fileName: The name in the container field.
        ///   - mimeType: The media type; inferred from the name and the leading bytes when `nil`.
        ///   - data: The bytes.
        public init(fileName: String, mimeType: String? = nil, data: Data) {
            self.fileName = fileName
            self.mimeType =
                mimeType ?? MIMEType.infer(fileName: fileName, leadingBytes: data.prefix(MIMEType.sniffLength))
            self.source = .data(data)
        }

        /// Makes a file of a file on disk. Its length and leading bytes are read now, the rest while it is sent, chunk
        /// by chunk as the connection accepts them, so that a file of any size needs little memory. Do not change the
        /// file in between: an upload fails if the length has changed.
        ///
        /// - Parameters:
        ///   - path: The path of a regular file.
        ///   - fileName: The name in the container field; the last component of the path when `nil`.
        ///   - mimeType: The media type; inferred from the name and the leading bytes when `nil`.
        /// - Throws: ``ContainerFileError`` with ``ContainerFileError/Code-swift.struct/unreadable`` when there is no
        ///   regular file at the path, or it cannot be read.
        public init(
            contentsOf path: String,
            fileName: String? = nil,
            mimeType: String? = nil
        ) throws(ContainerFileError) {
            let url = URL(fileURLWithPath: path)
            let length: Int
            let leadingBytes: Data
            do {
                // Resolves symbolic links, as reading the file will do.
                let values = try url.resolvingSymlinksInPath().resourceValues(forKeys: [
                    .isRegularFileKey, .fileSizeKey,
                ])
                guard values.isRegularFile == true, let size = values.fileSize else {
                    throw ContainerFileError(.unreadable, "No regular file is at \(path).")
                }
                let handle = try FileHandle(forReadingFrom: url)
                defer { try? handle.close() }
                length = size
                leadingBytes = try handle.read(upToCount: MIMEType.sniffLength) ?? Data()
            } catch let error as ContainerFileError {
                throw error
            } catch {
                throw ContainerFileError(
                    .unreadable,
                    "The file at \(path) cannot be read: \(error.localizedDescription)"
                )
            }
            let fileName = fileName ?? url.lastPathComponent
            self.fileName = fileName
            self.mimeType = mimeType ?? MIMEType.infer(fileName: fileName, leadingBytes: leadingBytes)
            self.source = .file(path: path, length: length)
        }

        /// Makes a file whose bytes come from a publisher.
        ///
        /// `chunks` is called once per attempt to send. Its publisher is asked for one chunk at a time, and for the
        /// next when the connection has accepted the last. Cancelling the upload cancels it. If it publishes more or
        /// fewer bytes than `length`, the upload fails.
        ///
        /// - Parameters:
        ///   - fileName: The name in the container field.
        ///   - mimeType: The media type; inferred from the name alone when `nil`.
        ///   - length: The exact number of bytes, which must be known before the first is sent.
        ///   - isReplayable: Whether another call of `chunks` gives the same bytes. If so, an upload that meets an
        ///     ended session is sent again; if not, it fails.
        ///   - chunks: Makes the publisher of the bytes.
        public init(
            fileName: String,
            mimeType: String? = nil,
            length: Int,
            isReplayable: Bool,
            chunks: @escaping @Sendable () -> AnyPublisher<Data, any Error>
        ) {
            self.fileName = fileName
            self.mimeType = mimeType ?? MIMEType.infer(fileName: fileName, leadingBytes: [])
            self.source = .stream(length: length, isReplayable: isReplayable, make: chunks)
        }

        /// The number of bytes.
        public var length: Int {
            switch source {
            case .data(let data): data.count
            case .file(_, let length): length
            case .stream(let length, _, _): length
            }
        }

        /// Whether the bytes can be sent a second time: always, except for a publisher that is not replayable.
        public var isReplayable: Bool {
            switch source {
            case .data, .file: true
            case .stream(_, let isReplayable, _): isReplayable
            }
        }
    }
}

extension FMRest.ContainerFile {
    /// The source of the bytes.
    enum Source: Sendable {
        case data(Data)
        case file(path: String, length: Int)
        case stream(length: Int, isReplayable: Bool, make: @Sendable () -> AnyPublisher<Data, any Error>)
    }
}

extension FMRest.ContainerFile: CustomStringConvertible {
    /// Name, type and length; never the content.
    public var description: String { "\(fileName) (\(mimeType), \(length) bytes)" }
}

extension FMRest {
    /// Why a ``ContainerFile`` cannot be made or sent. It occurs before anything is sent to the server.
    public struct ContainerFileError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of failure. Later versions may add kinds.
        public struct Code: RawRepresentable, Hashable, Sendable {
            /// The name of the code.
            public let rawValue: String

            /// A code with the given name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// There is no regular file at the path, or it cannot be read.
            public static let unreadable = Code(rawValue: "unreadable")
            /// The file name is empty, or contains a line break or NUL.
            public static let invalidFileName = Code(rawValue: "invalidFileName")
            /// The media type is invalid: it would break the header of its part, or inject another header.
            public static let invalidMIMEType = Code(rawValue: "invalidMIMEType")
            /// The length is negative or too large to be sent.
            public static let invalidLength = Code(rawValue: "invalidLength")
        }

        /// The kind of failure.
        public let code: Code
        /// The failure in words.
        public let description: String

        init(_ code: Code, _ description: String) {
            self.code = code
            self.description = description
        }
    }
}

extension FMRest.ContainerFileError: APIErrorConvertible {
    package var apiError: FMRest.APIError { FMRest.APIError(.invalidRequest, reason: "\(self)", underlying: self) }
}

extension FMRest.ContainerFileError: LocalizedError {
    /// What is wrong.
    public var errorDescription: String? { description }
}
