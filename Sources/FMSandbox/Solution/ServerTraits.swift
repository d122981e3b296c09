import Foundation

/// The traits of the imitated server in which releases differ or sources disagree.
struct ServerTraits: Equatable, Sendable {
    let version: Sandbox.ServerVersion
    let findPastEnd: Sandbox.FindPastEnd
    let ignoresNameCase: Bool
    let newPortalRecordInfoOnCreate: Bool
    let dataSourceWithoutAccount: Sandbox.DataSourceWithoutAccount
    let isoTimestampSeparator: Sandbox.ISOTimestampSeparator
    let isoCriterionDates: Sandbox.CriterionDates
    let portalFieldNames: Sandbox.PortalFieldNames
    let containerStreaming: Sandbox.ContainerStreaming
    let timeZone: TimeZone
    let sessionLifetime: Duration
    let keepAlive: Duration
    let compression: Bool

    /// Takes each trait from the configuration, else from the solutions, else the default. Throws if solutions
    /// contradict each other.
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
        isoTimestampSeparator =
            try configuration.isoTimestampSeparator
            ?? trait("isoTimestampSeparator", \.isoTimestampSeparator) ?? .letter
        isoCriterionDates =
            try configuration.isoCriterionDates ?? trait("isoCriterionDates", \.isoCriterionDates) ?? .usAndISO
        portalFieldNames =
            try configuration.portalFieldNames ?? trait("portalFieldNames", \.portalFieldNames) ?? .qualified
        containerStreaming =
            try configuration.containerStreaming ?? trait("openContainers", \.containerStreaming) ?? .authenticated
        timeZone = try configuration.timeZone ?? trait("timeZone", \.timeZone) ?? .gmt
        sessionLifetime =
            try configuration.sessionLifetime ?? trait("sessionLifetime", \.sessionLifetime) ?? .seconds(15 * 60)
        keepAlive = try configuration.keepAlive ?? trait("keepAlive", \.keepAlive) ?? .seconds(5)
        compression = try configuration.compression ?? trait("compression", \.compression) ?? true
    }
}
