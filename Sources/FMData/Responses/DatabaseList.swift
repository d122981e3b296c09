extension DataAPI.Database {
    /// The databases a server hosts for the Data API, as far as the credentials allow.
    ///
    /// Source: Claris Data API guide, "Get database names".
    public struct DatabaseListResponse: Hashable, Sendable, Decodable {
        /// The name of a hosted file, without `.fmp12`. Names sort alphabetically.
        public struct DatabaseName: Hashable, Sendable, Decodable, Comparable {
            /// The name itself.
            public var name: String

            /// A database by its name.
            public init(name: String) {
                self.name = name
            }

            /// By name.
            public static func < (lhs: DatabaseName, rhs: DatabaseName) -> Bool { lhs.name < rhs.name }
        }

        /// The files, in the server's order.
        public var databases: [DatabaseName]
        /// FileMaker's messages; see ``MessageCarrying``.
        @DataAPI.Aside public var messages: [DataAPI.Message] = []

        private enum CodingKeys: CodingKey {
            case databases
        }

        /// A value of your own making, for tests and doubles; see the properties for its parts.
        public init(databases: [DatabaseName]) {
            self.databases = databases
        }
    }
}

extension DataAPI.Database.DatabaseListResponse: DataAPIResponse {}
