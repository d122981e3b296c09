import Foundation
import NIOConcurrencyHelpers

/// A Data API session: the database, the account that logged in, and the state that ends with the session.
final class Session: Sendable {
    /// A login's credentials for the file of a data source. They are checked when the file is first used.
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
        /// The time at which a delayed logout ends the session.
        var end: Date?
        /// Whether its token is refused, as if the session were on another host behind the same load balancer. The
        /// session still counts, and it can be logged out.
        var isRefused = false
        var globals: [Viewpoint.GlobalKey: FieldValue] = [:]
        /// `$$variables` of scripts.
        var variables: [String: String] = [:]
        /// The found sets that finds and scripts left, by table; without one, the found set is all records.
        var foundSets: [Int: [Int]] = [:]
        /// Whether the session still has the window that shows layouts; a script may close it.
        var hasWindow = true
        /// The files of data sources that this session has opened, with its privileges in them.
        var openedDatabases: [Int: Solution.PrivilegeSet] = [:]
        /// The files of data sources that lack the session's account, so that none of their data is visible.
        var closedDatabases: Set<Int> = []
    }

    /// The number of the session, in the order of logins.
    let number: Int
    let token: String
    let database: Int
    /// The database name as the login spelled it; requests must use the same spelling.
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
