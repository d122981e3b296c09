import Foundation
import NIOConcurrencyHelpers

/// A Data API session: who is logged in to which database, and what lives as long as that.
final class Session: Sendable {
    /// What the client said about the files of data sources at login; it is looked at when such a file is first used.
    struct DataSourceLogin: Sendable {
        enum Credentials: Sendable {
            case account(name: String, password: String)
            case oauth(requestId: String, identifier: String)
        }

        var database: String
        var credentials: Credentials
    }

    struct State: Sendable {
        var lastUsed: Date
        /// When a logout that comes late ends it.
        var end: Date?
        /// Whether its token is one of another host behind the same load balancer: it takes a place and can be logged out.
        var isRefused = false
        var globals: [Viewpoint.GlobalKey: FieldValue] = [:]
        /// `$$variables` of scripts.
        var variables: [String: String] = [:]
        /// The found sets of tables, as finds and scripts left them; all records where there is none.
        var foundSets: [Int: [Int]] = [:]
        /// Whether it still has the window in which layouts are shown: a script may close it.
        var hasWindow = true
        /// Data-source files this session has opened, and what it may do in them.
        var openedDatabases: [Int: Solution.PrivilegeSet] = [:]
        /// Data-source files that lack its account: nothing is to be seen of them.
        var closedDatabases: Set<Int> = []
    }

    /// Sessions are counted in the order of their logins.
    let number: Int
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
        number: Int,
        token: String,
        database: Int,
        spelling: String,
        account: Solution.Account,
        privileges: Solution.PrivilegeSet,
        dataSources: [DataSourceLogin],
        now: Date
    ) {
        self.number = number
        self.token = token
        self.database = database
        self.spelling = spelling
        self.account = account
        self.privileges = privileges
        self.dataSources = dataSources
        state = NIOLockedValueBox(State(lastUsed: now))
    }
}
