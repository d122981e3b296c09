public import Foundation

extension DataAPI {
    /// What a server announces about a container's content before it sends the bytes.
    public struct ContainerHead: Hashable, Sendable {
        /// The name of the file without any folder, if the server sends one. It comes from the user who filled the
        /// container: it is fit for display, but check it before you use it in a path.
        public var fileName: String?
        /// The media type in lower case, such as `image/jpeg`, if the server sends one.
        public var mimeType: String?
        /// The number of bytes that follow, if the server announces it.
        public var byteCount: Int?

        /// A head of a container's content; all parts are optional.
        public init(fileName: String? = nil, mimeType: String? = nil, byteCount: Int? = nil) {
            self.fileName = fileName
            self.mimeType = mimeType
            self.byteCount = byteCount
        }
    }

    /// A part of a container's content, in the order of arrival: one head, then the bytes.
    public enum ContainerPart: Hashable, Sendable {
        case head(ContainerHead)
        case bytes(Data)

        /// The bytes; `nil` for the head.
        public var bytes: Data? {
            if case .bytes(let bytes) = self { bytes } else { nil }
        }
    }

    /// A container's content in memory.
    public struct ContainerContent: Hashable, Sendable {
        /// The bytes.
        public var data: Data
        /// See ``ContainerHead/fileName``.
        public var fileName: String?
        /// See ``ContainerHead/mimeType``.
        public var mimeType: String?

        /// Content in memory, with its name and type.
        public init(data: Data, fileName: String? = nil, mimeType: String? = nil) {
            self.data = data
            self.fileName = fileName
            self.mimeType = mimeType
        }
    }

    /// A container's content in a file on this machine.
    public struct DownloadedFile: Hashable, Sendable {
        /// The path of the file, as passed to the download.
        public var path: String
        /// The length of the file in bytes.
        public var byteCount: Int
        /// The name in the container; see ``ContainerHead/fileName``.
        public var fileName: String?
        /// See ``ContainerHead/mimeType``.
        public var mimeType: String?

        /// Content in a file, with its name and type.
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
