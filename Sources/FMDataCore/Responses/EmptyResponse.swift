extension FMRest {
    /// The response of a call that only reports success.
    public struct EmptyResponse: Hashable, Sendable {
        /// FileMaker's messages; see ``DataAPI/Message``.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        /// Creates a value for tests and test doubles.
        public init(messages: [DataAPI.Message] = []) {
            self.messages = messages
        }
    }
}

extension FMRest.EmptyResponse: Decodable {
    /// Reads nothing, because the content differs between servers and has no meaning.
    public init(from decoder: any Decoder) throws {
        self.init()
    }
}

extension FMRest.EmptyResponse: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror { mirror([:]) }
}

extension FMRest.EmptyResponse: DataAPIResponse {}
