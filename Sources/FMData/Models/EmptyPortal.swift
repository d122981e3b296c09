extension DataAPI {
    /// The portal type of a response whose portals are not needed. The portals in an answer are skipped.
    public struct EmptyPortal: Codable, Hashable, Sendable {
        /// Creates the value, which has no content.
        public init() {}
    }
}
