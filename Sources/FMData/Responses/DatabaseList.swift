extension DataAPI.Database {
    /// The databases a server hosts for the Data API, as far as the credentials allow.
    ///
    /// Source: Claris Data API guide, "Get database names".
    public struct DatabaseListResponse: Hashable, Sendable, Decodable {
        public struct DatabaseName: Hashable, Sendable, Decodable, Comparable {
            public var name: String

            public init(name: String) {
                self.name = name
            }

            public static func < (lhs: DatabaseName, rhs: DatabaseName) -> Bool { lhs.name < rhs.name }
        }

        public var databases: [DatabaseName]

        public init(databases: [DatabaseName]) {
            self.databases = databases
        }
    }
}
