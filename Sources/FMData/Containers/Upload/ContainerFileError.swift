public import Foundation

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
    var apiError: FMRest.APIError { FMRest.APIError(.invalidRequest, reason: "\(self)", underlying: self) }
}

extension FMRest.ContainerFileError: LocalizedError {
    /// What is wrong.
    public var errorDescription: String? { description }
}
