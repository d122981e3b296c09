import Foundation
import NIOConcurrencyHelpers

/// A Data API session: who is logged in to which database, and what lives as long as that.
final class Session: Sendable {
    /// What the client said about the files of data sources at login; it is looked at when such a file is first used.
    struct DataSourceLogin: Sendable {
        var database: String
        var user: String
        var password: String
        /// The identifier of an OAuth login instead of name and password.
        var oauthIdentifier: String?
    }

    struct State: Sendable {
        var lastUsed: Date
        var globals: [Viewpoint.GlobalKey: FieldValue] = [:]
        /// Data-source files this session has opened.
        var openedDatabases: Set<Int> = []
    }

    let token: String
    let database: Int
    /// The database name as the login wrote it; requests must write it the same way.
    let spelling: String
    let account: Solution.Account
    let privileges: Solution.PrivilegeSet
    let dataSources: [DataSourceLogin]
    let gate = Gate()
    let state: NIOLockedValueBox<State>

    init(
        token: String,
        database: Int,
        spelling: String,
        account: Solution.Account,
        privileges: Solution.PrivilegeSet,
        dataSources: [DataSourceLogin],
        now: Date
    ) {
        self.token = token
        self.database = database
        self.spelling = spelling
        self.account = account
        self.privileges = privileges
        self.dataSources = dataSources
        state = NIOLockedValueBox(State(lastUsed: now))
    }
}
