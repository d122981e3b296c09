extension FMRest {
    /// Why a ``ContainerFile`` cannot be made or sent. Raised before anything goes to the server.
    public struct ContainerFileError: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong. May grow.
        public struct Code: RawRepresentable, Hashable, Sendable {
            /// The name of the code.
            public let rawValue: String

            /// A code by its name.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// The path leads to no regular file, or the file may not be read.
            public static let unreadable = Code(rawValue: "unreadable")
            /// The file name is empty, or has a line break or NUL.
            public static let invalidFileName = Code(rawValue: "invalidFileName")
            /// The media type is none: it would break the header of its part or smuggle another one in.
            public static let invalidMIMEType = Code(rawValue: "invalidMIMEType")
            /// The length is negative or too large to be sent.
            public static let invalidLength = Code(rawValue: "invalidLength")
        }

        /// What is wrong.
        public let code: Code
        /// What is wrong, in words.
        public let description: String

        init(_ code: Code, _ description: String) {
            self.code = code
            self.description = description
        }
    }
}
