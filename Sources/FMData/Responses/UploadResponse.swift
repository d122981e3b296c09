extension DataAPI {
    /// What an upload did.
    ///
    /// Source: Claris Data API guide, "Upload container data", which promises nothing; servers send the `modId`.
    public struct UploadResponse: Hashable, Sendable {
        /// The record's new modification id, where the server tells it.
        public var modId: Int?
        /// FileMaker's messages; see ``MessageCarrying``.
        @DataAPI.Aside public var messages: [DataAPI.Message] = []

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(modId: Int? = nil) {
            self.modId = modId
        }
    }
}

extension DataAPI.UploadResponse: Decodable {
    private enum CodingKeys: CodingKey {
        case modId
    }

    /// Reads it as servers send it: ids, codes and counts as text or as numbers.
    public init(from decoder: any Decoder) throws {
        modId = try decoder.container(keyedBy: CodingKeys.self).decodeWireIntegerIfPresent(forKey: .modId)
    }
}

extension DataAPI.UploadResponse: DataAPIResponse {}
