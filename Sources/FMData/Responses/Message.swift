extension DataAPI {
    /// One entry of an answer's `messages`: what FileMaker says about the request.
    ///
    /// Source: Claris Data API guide, "Error responses".
    public struct Message: Hashable, Sendable {
        /// FileMaker's error code as it was sent: `"0"` is success. A text, since not every server sends a number.
        public var code: String
        /// The server's own words. Absent in some refusals.
        public var message: String?

        /// A message of your own, for tests and previews.
        public init(code: String, message: String? = nil) {
            self.code = code
            self.message = message
        }

        /// Whether this is the message of a request that went well.
        public var isSuccess: Bool { code == "0" }

        /// The code as a number; `nil` when it is not one.
        public var errorCode: FileMakerErrorCode? { FileMakerErrorCode(wireText: code) }
    }
}

typealias Message = DataAPI.Message

extension DataAPI.Message: CustomStringConvertible, CustomReflectable {
    /// Code and text, as in `101: Record is missing`. A long text is cut; ``message`` has it whole.
    public var description: String { code.shortened + (message.map { ": \($0.shortened)" } ?? "") }

    /// What a dump may show: a long text is cut.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.shortened, "message": message?.shortened as Any], displayStyle: .struct)
    }
}

extension DataAPI.Message: Decodable {
    private enum CodingKeys: CodingKey {
        case code, message
    }

    /// Reads code and text as a server sends them; some proxies send the code as a number.
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
