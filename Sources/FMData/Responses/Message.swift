extension DataAPI {
    /// One entry of `messages`, which every answer of the Data API carries. The first one decides: code `"0"` is
    /// success.
    public struct Message: Hashable, Sendable {
        /// The code as the server sent it: digits, as a rule. Anything else is kept as it came.
        public var code: String
        /// FileMaker's text. Some servers leave it out.
        public var message: String?

        public init(code: String, message: String? = nil) {
            self.code = code
            self.message = message
        }

        /// The code as a number; `nil` when it is not one.
        public var errorCode: FileMakerErrorCode? {
            Int(code).map(FileMakerErrorCode.init(rawValue:))
        }
    }
}

extension DataAPI.Message: Decodable {
    enum CodingKeys: CodingKey {
        case code, message
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            code: try container.decodeWireTextIfPresent(forKey: .code) ?? "",
            message: try container.decodeIfPresent(String.self, forKey: .message)
        )
    }
}
