extension Solution {
    /// What a solution asks of the server that hosts it: the release to imitate, and the answer to what sources disagree
    /// about. ``Sandbox/Configuration`` goes before it; two solutions of one sandbox must not ask for different things.
    public struct Server: Codable, Sendable, Equatable {
        /// The release to imitate. The default is ``Sandbox/ServerVersion/v22``.
        public var version: Sandbox.ServerVersion?
        /// What a find answers whose offset lies past the end. The default is ``Sandbox/FindPastEnd/noRecordsMatch``.
        public var findPastEnd: Sandbox.FindPastEnd?
        /// Whether the names of layouts, fields, portals, scripts and value lists in requests may be written in any case. The
        /// default is false.
        public var ignoresNameCase: Bool?
        /// Whether creating a record with portal rows answers `newPortalRecordInfo`, as editing one does. The default is
        /// false.
        public var newPortalRecordInfoOnCreate: Bool?
        /// What calls answer that need a data source whose file lacks the session's account. The default is
        /// ``Sandbox/DataSourceWithoutAccount/emptyValues``.
        public var dataSourceWithoutAccount: Sandbox.DataSourceWithoutAccount?

        /// Requests to the server; nil where the solution does not care.
        public init(
            version: Sandbox.ServerVersion? = nil,
            findPastEnd: Sandbox.FindPastEnd? = nil,
            ignoresNameCase: Bool? = nil,
            newPortalRecordInfoOnCreate: Bool? = nil,
            dataSourceWithoutAccount: Sandbox.DataSourceWithoutAccount? = nil
        ) {
            self.version = version
            self.findPastEnd = findPastEnd
            self.ignoresNameCase = ignoresNameCase
            self.newPortalRecordInfoOnCreate = newPortalRecordInfoOnCreate
            self.dataSourceWithoutAccount = dataSourceWithoutAccount
        }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case version, findPastEnd, ignoresNameCase, newPortalRecordInfoOnCreate, dataSourceWithoutAccount
        }

        /// Reads the documented JSON form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            version = try container.decodeChoiceIfPresent(Sandbox.ServerVersion.self, forKey: .version)
            findPastEnd = try container.decodeChoiceIfPresent(Sandbox.FindPastEnd.self, forKey: .findPastEnd)
            ignoresNameCase = try container.decodeIfPresent(Bool.self, forKey: .ignoresNameCase)
            newPortalRecordInfoOnCreate =
                try container.decodeIfPresent(Bool.self, forKey: .newPortalRecordInfoOnCreate)
            dataSourceWithoutAccount = try container.decodeChoiceIfPresent(
                Sandbox.DataSourceWithoutAccount.self,
                forKey: .dataSourceWithoutAccount
            )
        }
    }
}

/// The server that a sandbox imitates, in the points where releases differ and sources disagree.
struct ServerTraits: Equatable, Sendable {
    let version: Sandbox.ServerVersion
    let findPastEnd: Sandbox.FindPastEnd
    let ignoresNameCase: Bool
    let newPortalRecordInfoOnCreate: Bool
    let dataSourceWithoutAccount: Sandbox.DataSourceWithoutAccount

    /// What the configuration says, else what the solutions say, else the default.
    init(_ configuration: Sandbox.Configuration, _ solutions: [Solution]) throws {
        func trait<Value: Equatable>(_ key: String, _ wanted: KeyPath<Solution.Server, Value?>) throws -> Value? {
            var trait: Value?
            for solution in solutions {
                guard let value = solution.server[keyPath: wanted] else { continue }
                guard trait == nil || trait == value else {
                    throw SolutionError(
                        solution: solution.name,
                        path: "server.\(key)",
                        reason: "another solution asks for something else"
                    )
                }
                trait = value
            }
            return trait
        }
        version = try configuration.serverVersion ?? trait("version", \.version) ?? .v22
        findPastEnd = try configuration.findPastEnd ?? trait("findPastEnd", \.findPastEnd) ?? .noRecordsMatch
        ignoresNameCase = try configuration.ignoresNameCase ?? trait("ignoresNameCase", \.ignoresNameCase) ?? false
        newPortalRecordInfoOnCreate =
            try configuration.newPortalRecordInfoOnCreate
            ?? trait("newPortalRecordInfoOnCreate", \.newPortalRecordInfoOnCreate) ?? false
        dataSourceWithoutAccount =
            try configuration.dataSourceWithoutAccount
            ?? trait("dataSourceWithoutAccount", \.dataSourceWithoutAccount) ?? .emptyValues
    }
}
