extension DataAPI.Database {
    /// The databases that a server hosts for the Data API, as far as the credentials give access.
    ///
    /// Source: Claris Data API guide, "Get database names".
    public struct DatabaseListResponse: Hashable, Sendable, Decodable {
        /// The name of a hosted file, without `.fmp12`. Values are sorted alphabetically by name.
        public struct DatabaseName: Hashable, Sendable, Decodable, Comparable {
            /// The name as text.
            public var name: String

            /// Creates a value with a name.
            public init(name: String) {
                self.name = name
            }

            /// Whether the left name sorts before the right one.
            public static func < (lhs: DatabaseName, rhs: DatabaseName) -> Bool { lhs.name < rhs.name }
        }

        /// The files, in the server's order.
        public var databases: [DatabaseName]
        /// FileMaker's messages; see ``DataAPI/Message``.
        public var messages: [DataAPI.Message] {
            get { uncompared.messages }
            set { uncompared.messages = newValue }
        }
        private var uncompared = UncomparedMessages()

        private enum CodingKeys: CodingKey {
            case databases
        }

        /// Creates a value for tests and test doubles. The properties describe its parts.
        public init(databases: [DatabaseName]) {
            self.databases = databases
        }
    }
}

extension DataAPI.Database.DatabaseListResponse: CustomReflectable {
    /// Shows the response in `print` and `dump`.
    public var customMirror: Mirror { mirror(["databases": databases]) }
}

extension DataAPI.Database.DatabaseListResponse: DataAPIResponse {}
