extension DataAPI {
    /// One entry of an answer's `messages`: FileMaker's result for the request.
    ///
    /// A success has the message `"0"` with "OK"; a server or a proxy may add others. Responses keep them in order; a
    /// value that your program creates has none, and neither has one without an answer. Responses other than a
    /// ``RecordResponse`` are compared without their messages.
    ///
    /// Source: Claris Data API guide, "Error responses".
    public struct Message: Hashable, Sendable {
        /// FileMaker's error code as the server sent it: `"0"` is success. It is a text, since not every server sends a
        /// number.
        public var code: String
        /// The server's text; `nil` in some error answers.
        public var message: String?

        /// Creates a message for tests and previews.
        public init(code: String, message: String? = nil) {
            self.code = code
            self.message = message
        }

        /// Whether the code is `"0"`, for a successful request.
        public var isSuccess: Bool { code == "0" }

        /// The code as a number; `nil` if it is not a number.
        public var errorCode: FileMakerErrorCode? { FileMakerErrorCode(wireText: code) }
    }
}

typealias Message = DataAPI.Message

extension DataAPI.Message: CustomStringConvertible, CustomReflectable {
    /// Code and text, like `101: Record is missing`. A long text is shortened; ``message`` is complete.
    public var description: String { code.shortened + (message.map { ": \($0.shortened)" } ?? "") }

    /// Shows code and text in `dump`, with a long text shortened.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.shortened, "message": message?.shortened as Any], displayStyle: .struct)
    }
}

extension DataAPI.Message: Decodable {
    private enum CodingKeys: CodingKey {
        case code, message
    }

    /// Reads the code and the text. Some proxies send the code as a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let code = try container.decodeWireTextIfPresent(forKey: .code) else {
            throw DecodingError.keyNotFound(
                CodingKeys.code,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A message without its code.")
            )
        }
        self.init(code: code, message: try container.decodeWireTextIfPresent(forKey: .message))
    }
}
