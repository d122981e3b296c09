extension FMRest {
    /// The answer of a call that says nothing but that it worked.
    public struct EmptyResponse: Hashable, Sendable {
        /// FileMaker's messages; see ``DataAPI/MessageCarrying``.
        @DataAPI.Aside public var messages: [DataAPI.Message]

        /// A value of your own making, for tests and doubles.
        public init(messages: [DataAPI.Message] = []) {
            self.messages = messages
        }
    }
}

extension FMRest.EmptyResponse: Decodable {
    /// Servers put different things here, or nothing: none of it matters.
    public init(from decoder: any Decoder) throws {
        self.init()
    }
}

extension FMRest.EmptyResponse: DataAPIResponse {}
