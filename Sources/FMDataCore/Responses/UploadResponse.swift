extension DataAPI {
    /// The response of an upload.
    ///
    /// Source: Claris Data API guide, "Upload container data", which documents no content; servers send the `modId`.
    public struct UploadResponse: Hashable, Sendable {
        /// The record's new modification id; `nil` if the server does not send it.
        public var modId: Int?
        /// FileMaker's messages; see ``DataAPI/Message``.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(modId: Int? = nil) {
            self.modId = modId
        }
    }
}

extension DataAPI.UploadResponse: Decodable {
    private enum CodingKeys: CodingKey {
        case modId
    }

    /// Reads a server's response. The id may be text or a number.
    public init(from decoder: any Decoder) throws {
        modId = try decoder.container(keyedBy: CodingKeys.self).decodeWireIntegerIfPresent(forKey: .modId)
    }
}

extension DataAPI.UploadResponse: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror { mirror(["modId": modId as Any]) }
}

extension DataAPI.UploadResponse: DataAPIResponse {}
