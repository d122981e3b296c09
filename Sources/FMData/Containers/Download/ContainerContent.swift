public import Foundation

extension DataAPI {
    /// What a server says of a container's content before it sends it.
    public struct ContainerHead: Hashable, Sendable {
        /// The name of the file without any folder, where the server gives one. It comes from whoever filled the
        /// container: show it, but think before writing to a path made of it.
        public var fileName: String?
        /// The media type in lower case, such as `image/jpeg`, where the server gives one.
        public var mimeType: String?
        /// How many bytes will come, where the server says so.
        public var byteCount: Int?

        /// What is known of a container's content.
        public init(fileName: String? = nil, mimeType: String? = nil, byteCount: Int? = nil) {
            self.fileName = fileName
            self.mimeType = mimeType
            self.byteCount = byteCount
        }
    }

    /// A piece of a container's content, in the order it arrives: one head, then the bytes.
    public enum ContainerPart: Hashable, Sendable {
        case head(ContainerHead)
        case bytes(Data)

        /// The bytes, if this is not the head.
        public var bytes: Data? {
            if case .bytes(let bytes) = self { bytes } else { nil }
        }
    }

    /// The content of a container in memory.
    public struct ContainerContent: Hashable, Sendable {
        /// The bytes.
        public var data: Data
        /// See ``ContainerHead/fileName``.
        public var fileName: String?
        /// See ``ContainerHead/mimeType``.
        public var mimeType: String?

        /// Content in memory.
        public init(data: Data, fileName: String? = nil, mimeType: String? = nil) {
            self.data = data
            self.fileName = fileName
            self.mimeType = mimeType
        }
    }

    /// The content of a container in a file on this machine.
    public struct DownloadedFile: Hashable, Sendable {
        /// Where the file is: the path that was asked for.
        public var path: String
        /// Its length.
        public var byteCount: Int
        /// The name in the container; see ``ContainerHead/fileName``.
        public var fileName: String?
        /// See ``ContainerHead/mimeType``.
        public var mimeType: String?

        /// Content in a file.
        public init(path: String, byteCount: Int, fileName: String? = nil, mimeType: String? = nil) {
            self.path = path
            self.byteCount = byteCount
            self.fileName = fileName
            self.mimeType = mimeType
        }
    }
}

extension DataAPI.ContainerContent: CustomStringConvertible {
    /// Name, type and length; never the content.
    public var description: String {
        "\(fileName ?? "a file without a name") (\(mimeType ?? "of no known type"), \(data.count) bytes)"
    }
}
